// How a thread finds out by itself that it had no processor: without a system call or other cost
// for each context switch, and without privileges.
//
//   first chunk      the thread sets a mark
//   switched away    the kernel clears it
//   next frame       vprof_rt_resumed() finds it cleared and writes a PREEMPTED event
//
// The mark is the pointer to a restartable sequence in the thread's rseq(2) area. The kernel clears
// it when it finds that it has switched the thread away, or delivered a signal to it, outside that
// sequence. Nothing ever runs ours, so it is cleared every time. Every frame that is entered or
// left looks at it. Whoever finds it cleared asks how much processor time the thread has had: the
// time that is missing since the last question is the time without a processor. It lies between the
// last event and this one, hence within one frame.
//
// Recorded waits do not count. A wait itself takes some microseconds of processor time, which is
// learnt: every eighth wait that gave up the processor asks at its end (half a microsecond), as
// does every wait for a file or a condition, and at first every wait. So a time without a processor
// is wrong by at most a few microseconds for the waits that did not ask.
//
// The kernel also says how often the thread was switched away while it could run. If that never
// happened, or if the thread gave up its processor more often than it recorded waits, it waited for
// something that is not recorded, and that is not preemption. Of a call that cannot wait (a socket
// that does not block), that need not be asked.
//
// glibc registers the area (2.35 and later). Where it does not, or where the program uses
// restartable sequences itself, as programs linked with tcmalloc do, switches.c asks the kernel for
// each switch, if that is allowed.
#define _GNU_SOURCE
#include "preemption/preempted.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"
#include "preemption/watch_requests.h"
#include "recording/buffer.h"
#include "recording/hooks.h"
#include "storage/frontier.h"

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

// A loss below 2 us, or below 1/8192 of the time that passed, may be a difference of the clocks.
enum { kLeastNs = 2000, kClockShift = 13 };
// Give up marking a thread after 64 false alarms in a row within 1/100 s.
enum { kMostAlarms = 64, kAlarmWindows = 100 };
enum { kEvery = 8 };             // waits: how often one asks
enum { kWaitErrorNs = 1000 };    // for each wait that did not ask
enum { kMostWaitNs = 1000000 };  // no wait takes more processor time than this

#if defined(RSEQ_SIG) && (defined(__x86_64__) || defined(__aarch64__))
#define VPROF_RSEQ 1
// The sequence has no instructions: the kernel only checks whether the thread is between its
// addresses. It expects the signature in front of the address it would abort to.
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

// Reads both clocks and sets the mark, again if the processor is lost in between.
static struct vprof_moment look(void) {
  struct vprof_moment now = {0, 0};
  for (int tries = 0; tries < 8; ++tries) {
    struct timespec time = {0, 0};
    set_mark();
    vprof_count_own_call();
    vprof_syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, (long)&time, 0, 0, 0, 0);
    now.processor_ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
    now.ticks = vprof_ticks();
    if (!vprof_lost_processor()) {
      break;
    }
  }
  return now;
}

// The time without a processor since the last question, in ns, without waits. 0: none that exceeds
// the error.
static uint64_t lost_ns(struct vprof_preemption* self) {
  if (vprof_confined()) {
    return 0;  // a system call that a filter may not allow would be needed
  }
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

// As above, in a stretch in which nothing was lost: the excess of processor time is what the waits
// took.
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
    return;  // forked, or the kernel did other work in it
  }
  if (self->learnt < kEvery) {
    ++self->learnt;
  }
  self->wait_ns =
      (uint32_t)(self->wait_ns + ((int64_t)each - (int64_t)self->wait_ns) / self->learnt);
}

// Was the thread switched away because others ran, and not in an unrecorded wait?
static bool could_have_run(struct vprof_preemption* self) {
  if (vprof_confined()) {
    return false;
  }
  struct rusage now = {0};
  vprof_count_own_call();
  vprof_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&now, 0, 0, 0, 0);
  const uint64_t gave_up = (uint64_t)now.ru_nvcsw - self->gave_up;
  const uint64_t lost = (uint64_t)now.ru_nivcsw - self->lost;
  const bool all_recorded = gave_up <= self->waits;
  const bool any_lost = lost > self->lost_in_calls;
  self->gave_up = (uint64_t)now.ru_nvcsw;
  self->lost = (uint64_t)now.ru_nivcsw;
  self->waits = self->lost_in_calls = 0;
  return any_lost && all_recorded;
}

// After a gap of a live run it is not known what the thread did in it: begins anew.
static bool notice_gap(struct vprof_preemption* self) {
  const uint64_t gaps = vprof_gaps();
  if (__builtin_expect(self->gaps == gaps, 1)) {
    return false;
  }
  self->gaps = gaps;
  lost_ns(self);
  could_have_run(self);
  return true;
}

static void leave_to_helper(void) {
  vprof_thread_buffer.running = &vprof_unwatched;
  vprof_self.preemption.mark = NULL;
  vprof_watch_request(vprof_thread_serial(), vprof_thread_id());
}

void vprof_hook_first_chunk(void) {
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
    self->gaps = vprof_gaps();
    lost_ns(self);
    could_have_run(self);
    return;
  }
#endif
  leave_to_helper();
}

// Asks once per chunk, so that the two clocks cannot drift apart. What is lost while the chunk is
// taken is part of that.
void vprof_hook_next_chunk(void) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark == NULL) {
    return;
  }
  const bool lost = vprof_lost_processor();
  lost_ns(self);
  if (lost) {
    could_have_run(self);
  }
}

// `cannot_have_waited`: it was lost in a call of which that is known.
static uint64_t resumed(uint64_t since, bool cannot_have_waited) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark == NULL) {
    return vprof_ticks();
  }
  if (notice_gap(self)) {
    return self->ticks;
  }
  const uint64_t lost = lost_ns(self);
  const uint64_t now = self->ticks;
  if (lost == 0) {
    // A signal. If they do not stop, the program itself writes to the mark.
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
  if (cannot_have_waited) {
    ++self->lost_in_calls;
  } else if (!could_have_run(self)) {
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

vprof_u64 vprof_rt_resumed(vprof_u64 since) { return resumed(since, false); }

void vprof_preemption_waited(uint64_t took, enum vprof_waited waited) {
  struct vprof_preemption* self = &vprof_self.preemption;
  if (self->mark == NULL || notice_gap(self)) {
    return;
  }
  if (waited == VPROF_WAITED_UNRECORDED || waited == VPROF_WAITED_NEVER) {
    resumed(0, waited == VPROF_WAITED_NEVER);
    self->alarms = 0;
    return;
  }
  self->alarms = 0;
  self->waited += took;
  ++self->unasked;
  ++self->waits;
  if (waited == VPROF_WAITED_OFTEN) {
    lost_ns(self);
    could_have_run(self);
  } else if (self->unasked == kEvery || self->learnt < kEvery) {
    learn(self);
  } else {
    set_mark();
  }
}
