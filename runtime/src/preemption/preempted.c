// Preemption, as a thread finds it out by itself: without a system call or a cost for each context switch, and without privileges.
//
//   first chunk ──▶ mark ──kernel: switched away ──▶ 0 ──next frame entered or left──▶ vprof_rt_resumed() ──▶ PREEMPTED event
//
// The mark is the pointer to a restartable sequence in the thread's area of rseq(2). The kernel clears it when it finds that it has switched
// the thread away, or delivered a signal to it, outside of that sequence; ours is never run, so it is cleared each time. Every frame that
// is entered or left looks at it. Who finds it cleared asks how much processor time the thread has had: what is missing since it was
// last asked is the time without a processor, and lies between the last event and this one, within one frame.
//
// Recorded waits are not part of that time. What a wait costs the processor, some microseconds, is learnt: each eighth wait that gave up the
// processor asks at its end (half a microsecond), as does each for a file or a condition, and all do until enough is known. So a time without
// a processor errs by a few microseconds for the waits that were not asked after.
//
// The kernel is also asked how often the thread was switched away while it could run: if it never was, or gave up the processor more often
// than it has told of, it waited for something that is not recorded, and that is no preemption.
//
// glibc registers the area (2.35 and later). Where there is none, or the program has restartable sequences of its own, as those that are linked
// with tcmalloc do, switches.c asks the kernel for each switch, if that is allowed.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

uint64_t vprof_unwatched = 1;

enum { kLeastNs = 2000 };   // shorter than this, and than a part in 8,192 of the time that passed,
enum { kClockShift = 13 };  // may be the difference between the clocks
enum { kMostAlarms = 64, kAlarmWindows = 100 };  // so many in a row that were none; in 1 s / 100
enum { kEvery = 8 };                             // waits
enum { kWaitErrorNs = 1000, kMostWaitNs = 1000000 };  // of each that was not asked after; of any

#if defined(RSEQ_SIG) && (defined(__x86_64__) || defined(__aarch64__))
#define VPROF_RSEQ 1
// It has no instructions: the kernel looks only whether the thread is between its addresses. Before the place that it would go to the kernel
// wants to see the signature.
static const uint32_t sequence_text[3] = {RSEQ_SIG, 0, 0};
static struct rseq_cs sequence;
static ptrdiff_t area_offset;  // from the thread pointer
static bool has_areas;
#endif

void vprof_preemption_init(void) {
#ifdef VPROF_RSEQ
  const unsigned* size = dlsym(RTLD_DEFAULT, "__rseq_size");
  const ptrdiff_t* offset = dlsym(RTLD_DEFAULT, "__rseq_offset");
  const char* asked = getenv("VPROF_PREEMPTION");
  if (size == NULL || offset == NULL || *size == 0) {
    return;
  }
  if (asked != NULL && strcmp(asked, "perf") == 0) {
    return;
  }
  sequence.abort_ip = (uintptr_t)&sequence_text[1];
  sequence.start_ip = (uintptr_t)&sequence_text[2];
  sequence.post_commit_offset = 1;
  area_offset = *offset;
  has_areas = true;
#endif
}

#ifdef VPROF_RSEQ
static void set_mark(void) {
  *(volatile uint64_t*)vprof_self.preemption.mark = (uintptr_t)&sequence;
}
#else
static void set_mark(void) {}
#endif

struct vprof_moment {
  uint64_t ticks;
  uint64_t processor_ns;
};

// Both clocks, with the mark set and the processor not lost in between.
static struct vprof_moment look(void) {
  struct vprof_moment now = {0, 0};
  for (int tries = 0; tries < 8; ++tries) {
    struct timespec time = {0, 0};
    set_mark();
    vprof_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&time, 0, 0, 0, 0);
    now.processor_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    now.ticks = vprof_ticks();
    if (!vprof_lost_processor()) {
      break;
    }
  }
  return now;
}

// Time without a processor since the last look, ns, waits not counted. 0: none that could be told from the errors.
static uint64_t lost_ns(struct vprof_preemption* self) {
  const struct vprof_preemption before = *self;
  const struct vprof_moment now = look();
  self->ticks = now.ticks;
  self->processor_ns = now.processor_ns;
  self->waited = 0;
  self->unasked = 0;
  const uint64_t then = before.ticks + before.waited;
  if (now.ticks < then || now.processor_ns < before.processor_ns) {
    return 0;  // forked
  }
  const double ns_per_tick = 1e9 / (double)vprof_ticks_per_second;
  const uint64_t passed = (uint64_t)((double)(now.ticks - then) * ns_per_tick);
  const uint64_t had = now.processor_ns - before.processor_ns;
  const uint64_t for_waits = (uint64_t)before.unasked * self->wait_ns;
  const uint64_t needed = passed + for_waits;
  const uint64_t error =
      kLeastNs + (uint64_t)before.unasked * kWaitErrorNs + (passed >> kClockShift);
  return needed > had && needed - had >= error ? needed - had : 0;
}

// As above, where nothing was lost: what the processor had besides was for the waits.
static void learn(struct vprof_preemption* self) {
  const uint64_t waits = self->unasked;
  const uint64_t then = self->ticks + self->waited;
  const uint64_t processor_ns = self->processor_ns;
  lost_ns(self);
  const uint64_t passed =
      (uint64_t)((double)(self->ticks - then) * 1e9 / (double)vprof_ticks_per_second);
  const uint64_t had = self->processor_ns - processor_ns;
  const uint64_t each = waits != 0 && had > passed ? (had - passed) / waits : 0;
  if (each > kMostWaitNs) {
    return;  // forked, or a kernel that does much else in it
  }
  if (self->learnt < kEvery) {
    ++self->learnt;
  }
  self->wait_ns =
      (uint32_t)(self->wait_ns + ((int64_t)each - (int64_t)self->wait_ns) / self->learnt);
}

// Whether it was because others ran.
static bool could_have_run(struct vprof_preemption* self) {
  struct rusage now = {0};
  vprof_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&now, 0, 0, 0, 0);
  const uint64_t gave_up = (uint64_t)now.ru_nvcsw - self->gave_up;
  const uint64_t lost = (uint64_t)now.ru_nivcsw - self->lost;
  const bool told = gave_up <= self->waits;
  self->gave_up = (uint64_t)now.ru_nvcsw;
  self->lost = (uint64_t)now.ru_nivcsw;
  self->waits = 0;
  return lost != 0 && told;
}

static void leave_to_helper(void) {
  vprof_thread_buffer.running = &vprof_unwatched;
  vprof_self.preemption.mark = NULL;
  vprof_switches_ask(vprof_thread_serial(), vprof_thread_id());
}

void vprof_preemption_watch(void) {
  const bool wanted =
      vprof_settings.sites && (vprof_settings.classes & VPROF_CLASS_PREEMPTION) != 0;
  struct vprof_preemption* self = &vprof_self.preemption;
  if (!wanted) {
    return;
  }
#ifdef VPROF_RSEQ
  struct rseq* area = (struct rseq*)((char*)__builtin_thread_pointer() + area_offset);
  if (has_areas && vprof_unwatched != 0 && (int32_t)area->cpu_id >= 0) {
    self->mark = (uint64_t*)((char*)area + offsetof(struct rseq, rseq_cs));
    vprof_thread_buffer.running = self->mark;
    lost_ns(self);
    could_have_run(self);
    return;
  }
#endif
  leave_to_helper();
}

void vprof_preemption_look(void) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark != NULL && !vprof_lost_processor()) {
    lost_ns(self);
  }
}

vprof_u64 vprof_rt_resumed(vprof_u64 since) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark == NULL) {
    return vprof_ticks();
  }
  const uint64_t lost = lost_ns(self);
  const uint64_t now = self->ticks;
  if (lost == 0) {
    // A signal; or, if there is no end to it, somebody else who writes to the mark.
    if (self->alarms++ == 0) {
      self->first_alarm = now;
    }
    if (self->alarms < kMostAlarms) {
      return now;
    }
    self->alarms = 0;
    if (now - self->first_alarm < vprof_ticks_per_second / kAlarmWindows) {
      leave_to_helper();
    }
    return now;
  }
  self->alarms = 0;
  if (!could_have_run(self)) {
    return now;
  }
  const uint64_t ticks = (uint64_t)((double)lost * 1e-9 * (double)vprof_ticks_per_second);
  const uint64_t last = vprof_last_end();
  if (since < last) {
    since = last;
  }
  const uint64_t start = now - ticks > since ? now - ticks : since;
  if (start >= now) {
    return now;
  }
  const struct vprof_slot slots[2] = {vprof_slot_of(VPROF_EV_PREEMPTED, start, now - start),
                                      vprof_slot_of(VPROF_EV_CONT, vprof_thread_serial(), 0)};
  vprof_write(slots, 2);
  return now;
}

void vprof_preemption_waited(uint64_t took, bool recorded, bool several) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark == NULL) {
    return;
  }
  if (!recorded) {
    vprof_rt_resumed(0);
  }
  self->alarms = 0;
  if (!recorded) {
    return;
  }
  self->waited += took;
  ++self->unasked;
  ++self->waits;
  if (several) {
    lost_ns(self);
    could_have_run(self);
  } else if (self->unasked == kEvery || self->learnt < kEvery) {
    learn(self);
  } else {
    set_mark();
  }
}
