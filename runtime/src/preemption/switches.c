// Preemption: when a thread could have run and had no processor, as the kernel tells by perf_event_open.
//
//   thread ──first chunk──▶ asked[] ──helper──▶ an event and a ring for each thread ──drain──▶ PREEMPTED events
//
// All of it is the helper's work; a thread only leaves its id once, when it takes its first chunk. The event counts nothing: it is there for
// its records of context switches (PERF_RECORD_SWITCH), which one may have of one's own threads without privileges. A switch away from a
// thread that was ready to run carries a mark (SWITCH_OUT_PREEMPT); from then until it is switched to again it was preempted. Switches
// without the mark are waits, which are recorded by those who wait, and known better there.
//
// Rings are drained every 5 to 80 ms, the more often the fuller they are found; what found no room is counted. The records
// carry CLOCK_MONOTONIC; the clocks are read together before each drain, so that converting to ticks errs by less than a microsecond.
//
// A watched thread pays 1 to 2 us for each context switch. So one that switches more than 10,000 times a second, for a tenth of a second,
// is let go, which is counted, too: its waits are recorded anyway.
//
// What is refused is counted and said in the header, and costs nothing more: too many threads for the limit of descriptors or of locked
// memory, a kernel that does not allow it. A program that has put itself into a sandbox (seccomp) after it was started may be killed
// for a call that it does not expect, so nothing is opened from then on.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

enum { kMostThreads = 4096, kRingPages = 4, kRecordBytes = 64 };
// Of the record of one switch: when.
enum { kSwitchBytes = sizeof(struct perf_event_header) + sizeof(uint64_t) };
enum { kLeastPause = 5000000, kMostPause = 80000000 };  // ns between drains
enum { kMostSwitches = 10000, kPatience = 100000000 };  // a second; ns
enum { kCheckEvery = 1000000000 };                      // ns between looks at who has ended

// ---- the threads' side

// A mailbox: a thread leaves {tid, serial} in a free place, the helper takes it out. 0: free.
enum { kAsked = 256 };
static atomic_uint_fast64_t asked[kAsked];
static atomic_bool any_asked;

bool vprof_switches_asked(void) { return atomic_load(&any_asked); }

void vprof_switches_ask(uint32_t serial, uint32_t tid) {
  if (!vprof_settings.sites || (vprof_settings.classes & VPROF_CLASS_PREEMPTION) == 0) {
    return;
  }
  const uint64_t wanted = (uint64_t)tid << 32 | serial;
  for (unsigned i = 0; i < kAsked; ++i) {
    uint64_t none = 0;
    const unsigned at = (serial + i) % kAsked;
    if (atomic_load_explicit(&asked[at], memory_order_relaxed) == 0 &&
        atomic_compare_exchange_strong(&asked[at], &none, wanted)) {
      atomic_store(&any_asked, true);
      vprof_helper_wake();
      return;
    }
  }
  vprof_count(&vprof_trace.header->unwatched, 1);
}

void vprof_switches_forget(void) {
  atomic_store(&any_asked, false);
  for (unsigned i = 0; i < kAsked; ++i) {
    atomic_store(&asked[i], 0);
  }
}

// ---- the helper's side

struct vprof_watched {
  struct perf_event_mmap_page* page;
  int fd;
  uint32_t tid;
  uint32_t serial;
  uint64_t out;  // ns: preempted since; 0: not
  // Since switches were last weighed: bytes of records, lost ones included; ns.
  uint64_t recorded, passed;
};

static int seccomp_mode(void) {
  return (int)vprof_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
}

void vprof_switches_start(struct vprof_switches* all) {
  all->watched = NULL;
  all->count = 0;
  all->sandbox = seccomp_mode();
  all->pause = kMostPause;
  all->next = all->next_check = 0;
  all->last = vprof_monotonic_ns();
  const bool wanted =
      vprof_settings.sites && (vprof_settings.classes & VPROF_CLASS_PREEMPTION) != 0;
  if (!wanted) {
    return;
  }
  const long table =
      vprof_syscall(SYS_mmap, 0, kMostThreads * sizeof(struct vprof_watched),
                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (table < 0 && table > -4096) {
    __atomic_store_n(&vprof_trace.header->switches_refused, (uint64_t)-table, __ATOMIC_RELAXED);
    return;
  }
  all->watched = (struct vprof_watched*)table;
}

// Constant, since clearing it here might be done by a memset that a sanitizer has intercepted (helper.c).
static const struct perf_event_attr attributes = {
    .size = sizeof attributes,
    .type = PERF_TYPE_SOFTWARE,
    .config = PERF_COUNT_SW_DUMMY,
    .sample_type = PERF_SAMPLE_TIME,
    .sample_id_all = 1,
    .context_switch = 1,
    .exclude_kernel = 1,
    .exclude_hv = 1,
    .use_clockid = 1,
    .clockid = CLOCK_MONOTONIC,
};

static long open_event(uint32_t tid) {
  return vprof_syscall(SYS_perf_event_open, (long)&attributes, (long)tid, -1, -1,
                       PERF_FLAG_FD_CLOEXEC, 0);
}

// The first refusal says why; later ones are counted.
static void refused(long error) {
  struct vprof_file_header* header = vprof_trace.header;
  vprof_count(&header->unwatched, 1);
  if (__atomic_load_n(&header->switches_refused, __ATOMIC_RELAXED) == 0) {
    __atomic_store_n(&header->switches_refused, (uint64_t)-error, __ATOMIC_RELAXED);
  }
}

static void watch(struct vprof_switches* all, uint32_t tid, uint32_t serial) {
  if (all->count == kMostThreads) {
    return refused(-EMFILE);
  }
  if (seccomp_mode() != all->sandbox) {
    return refused(-EPERM);
  }
  const long fd = open_event(tid);
  if (fd == -ESRCH) {
    return;  // it has ended
  }
  if (fd < 0) {
    return refused(fd);
  }
  const long page = vprof_syscall(SYS_mmap, 0, (1 + kRingPages) * VPROF_PAGE_BYTES,
                                  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page < 0 && page > -4096) {
    vprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    return refused(page);
  }
  const struct vprof_watched thread = {
      (struct perf_event_mmap_page*)page, (int)fd, tid, serial, 0, 0, 0};
  all->watched[all->count++] = thread;
}

static void unwatch(struct vprof_switches* all, unsigned index) {
  vprof_syscall(SYS_munmap, (long)all->watched[index].page, (1 + kRingPages) * VPROF_PAGE_BYTES, 0,
                0, 0, 0);
  vprof_syscall(SYS_close, all->watched[index].fd, 0, 0, 0, 0, 0);
  all->watched[index] = all->watched[--all->count];
}

static void take_asked(struct vprof_switches* all) {
  if (!atomic_exchange(&any_asked, false)) {
    return;
  }
  for (unsigned i = 0; i < kAsked; ++i) {
    if (atomic_load_explicit(&asked[i], memory_order_relaxed) == 0) {
      continue;
    }
    const uint64_t wanted = atomic_exchange(&asked[i], 0);
    if (wanted != 0 && all->watched != NULL) {
      watch(all, (uint32_t)(wanted >> 32), (uint32_t)wanted);
    }
  }
}

struct vprof_conversion {
  struct vprof_clock_reading now;
  double ticks_per_ns;
};

static struct vprof_conversion converter(void) {
  const struct vprof_file_header* header = vprof_trace.header;
  struct vprof_conversion to = {vprof_clock_read(), (double)vprof_ticks_per_second * 1e-9};
  const uint64_t passed = to.now.monotonic_ns - header->start_monotonic_ns;
  if (passed > kMostPause) {
    to.ticks_per_ns = (double)(to.now.ticks - header->start_ticks) / (double)passed;
  }
  return to;
}

static uint64_t to_ticks(const struct vprof_conversion* to, uint64_t ns) {
  return to->now.ticks -
         (uint64_t)(int64_t)(((double)to->now.monotonic_ns - (double)ns) * to->ticks_per_ns);
}

static void take_switch(struct vprof_watched* thread, const struct perf_event_header* record,
                        uint64_t ns, const struct vprof_conversion* to,
                        struct vprof_helper_output* out) {
  if ((record->misc & PERF_RECORD_MISC_SWITCH_OUT) != 0) {
    thread->out = (record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0 ? ns : 0;
    return;
  }
  if (thread->out == 0 || ns <= thread->out) {
    return;
  }
  const uint64_t start = to_ticks(to, thread->out);
  const uint64_t end = to_ticks(to, ns);
  thread->out = 0;
  const struct vprof_slot slots[2] = {vprof_slot_of(VPROF_EV_PREEMPTED, start, end - start),
                                      vprof_slot_of(VPROF_EV_CONT, thread->serial, 0)};
  if (!vprof_helper_write(out, slots, 2)) {
    vprof_count(&vprof_trace.header->switches_lost, 1);
  }
}

// A record may lie across the end of the ring.
static void copy_out(const struct vprof_watched* thread, uint64_t at, void* to, size_t bytes) {
  const char* ring = (const char*)thread->page + VPROF_PAGE_BYTES;
  for (size_t i = 0; i < bytes; ++i) {
    ((char*)to)[i] = ring[(at + i) % (kRingPages * VPROF_PAGE_BYTES)];
  }
}

// Returns how many bytes of records there were, with those that had found no room.
static uint64_t drain(struct vprof_watched* thread, const struct vprof_conversion* to,
                      struct vprof_helper_output* out) {
  struct perf_event_mmap_page* page = thread->page;
  const uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
  uint64_t tail = page->data_tail;
  uint64_t bytes = head - tail;
  while (tail < head) {
    struct {
      struct perf_event_header header;
      uint64_t body[kRecordBytes / sizeof(uint64_t)];
    } record;
    copy_out(thread, tail, &record.header, sizeof record.header);
    const uint32_t size = record.header.size;
    if (size < sizeof record.header) {
      break;  // not a record: nothing behind it can be told apart
    }
    const uint32_t kept = size < sizeof record ? size : sizeof record;
    copy_out(thread, tail, &record, kept);
    if (record.header.type == PERF_RECORD_SWITCH) {
      take_switch(thread, &record.header, record.body[0], to, out);
    } else if (record.header.type == PERF_RECORD_LOST) {
      const uint64_t lost = record.body[1];  // id, lost
      vprof_count(&vprof_trace.header->switches_lost, lost);
      bytes += lost * kSwitchBytes;
      thread->out = 0;
    }
    tail += size;
  }
  __atomic_store_n(&page->data_tail, tail < head ? head : tail, __ATOMIC_RELEASE);
  return bytes;
}

static bool has_ended(const struct vprof_watched* thread) {
  return vprof_syscall(SYS_tgkill, (long)vprof_trace.pid, (long)thread->tid, 0, 0, 0, 0) == -ESRCH;
}

// `bytes` of records in that time. One of each two is of a switch away. Weighed over so long a time that a moment in which
// the thread had no processor, or the helper, does not matter.
static bool switches_too_often(struct vprof_watched* thread, uint64_t bytes, uint64_t ns) {
  thread->recorded += bytes;
  thread->passed += ns;
  if (thread->passed < kPatience) {
    return false;
  }
  const uint64_t switches = thread->recorded / (2 * kSwitchBytes);
  const bool too_often = switches * 1000000000 > thread->passed * kMostSwitches;
  thread->recorded = 0;
  thread->passed = 0;
  return too_often;
}

uint64_t vprof_switches_drain(struct vprof_switches* all, struct vprof_helper_output* out,
                              uint64_t now) {
  take_asked(all);
  if (all->count == 0) {
    return UINT64_MAX;
  }
  if (now < all->next) {
    return all->next;
  }
  const bool check = now >= all->next_check;
  if (check) {
    all->next_check = now + kCheckEvery;
  }
  const struct vprof_conversion to = converter();
  uint64_t fullest = 0;
  for (unsigned i = all->count; i-- > 0;) {
    const bool ended = check && has_ended(&all->watched[i]);
    const uint64_t found = drain(&all->watched[i], &to, out);
    if (found > fullest) {
      fullest = found;
    }
    if (ended) {
      unwatch(all, i);
    } else if (switches_too_often(&all->watched[i], found, now - all->last)) {
      vprof_count(&vprof_trace.header->let_go, 1);
      unwatch(all, i);
    }
  }
  enum { kRingBytes = kRingPages * VPROF_PAGE_BYTES };
  if (fullest > kRingBytes / 4 && all->pause > kLeastPause) {
    all->pause /= 2;
  }
  if (fullest < kRingBytes / 16 && all->pause < kMostPause) {
    all->pause *= 2;
  }
  all->last = now;
  all->next = now + all->pause;
  return all->next;
}
