// Preemption as the kernel reports it through perf_event_open.
//
//   thread --first chunk--> request --helper--> a perf event and its ring --drain--> PREEMPTED
//
// All work is the helper's; a thread only leaves its id once, when it takes its first chunk. The
// perf event counts nothing. It is there for its context-switch records (PERF_RECORD_SWITCH), which
// a process may have of its own threads without privileges. A switch away from a thread that was
// ready to run carries a flag (SWITCH_OUT_PREEMPT); from then until the thread is switched to again
// it was preempted. Switches without the flag are waits. Those are recorded by the threads that
// wait, which know more about them.
//
// Rings are drained every 5 to 80 ms, more often the fuller they are; records that found no room
// are counted. They carry CLOCK_MONOTONIC. All clocks are read together before each drain, so that
// the conversion to ticks is wrong by less than a microsecond.
//
// Each context switch of a watched thread costs it 1 to 2 us. So a thread that switches more than
// 10,000 times a second, for a tenth of a second, is let go, which is counted. Its waits are still
// recorded. For the same reason the events are closed while nobody drives a live run, and opened
// again when somebody does.
//
// A refusal is counted and noted in the header, and costs nothing more: too many threads for the
// limit on descriptors or locked memory, or a kernel that forbids it. A program that has entered a
// sandbox (seccomp) since it was started may be killed for an unexpected call, so nothing is opened
// from then on.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"
#include "preemption/watch_requests.h"
#include "recording/buffer.h"
#include "recording/helper_output.h"
#include "recording/hooks.h"
#include "storage/chunks.h"
#include "storage/trace.h"

enum { kMostThreads = 4096, kRingPages = 4, kRecordBytes = 64 };
// The size of one context-switch record: a header and a time.
enum { kSwitchBytes = sizeof(struct perf_event_header) + sizeof(uint64_t) };
enum { kLeastPause = 5000000, kMostPause = 80000000 };  // ns between drains
enum { kMostSwitches = 10000 };                         // per second
enum { kPatience = 100000000 };                         // ns over which they are counted
enum { kCheckEvery = 1000000000 };                      // ns between checks for ended threads

struct vprof_watched {
  struct perf_event_mmap_page* page;  // NULL: closed, since nobody drives
  int fd;
  uint32_t tid;
  uint32_t serial;
  uint64_t out;  // ns: preempted since; 0: not preempted
  // Since the rate of switches was last checked:
  uint64_t recorded;  // bytes of records, lost ones included
  uint64_t passed;    // ns
};

// The helper's alone; vprof_hook_helper_start() resets it, in a child of fork too.
static struct {
  struct vprof_watched* watched;  // NULL: nothing is watched, or nothing can be
  unsigned count;
  int sandbox;  // seccomp mode at the start
  uint64_t pause;
  uint64_t next, next_check, last;  // CLOCK_MONOTONIC, ns
} watch_list;

static int seccomp_mode(void) {
  return (int)vprof_syscall(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0, 0);
}

void vprof_hook_helper_start(void) {
  watch_list.watched = NULL;
  watch_list.count = 0;
  watch_list.sandbox = seccomp_mode();
  watch_list.pause = kMostPause;
  watch_list.next = watch_list.next_check = 0;
  watch_list.last = vprof_monotonic_ns();
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
  watch_list.watched = (struct vprof_watched*)table;
}

// Static: clearing a local one might compile to memset(), which a sanitizer may have intercepted
// (recording/helper.c).
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

// Keeps the reason of the first refusal; later ones are only counted.
static void refused(long error) {
  struct vprof_file_header* header = vprof_trace.header;
  vprof_count(&header->unwatched, 1);
  if (__atomic_load_n(&header->switches_refused, __ATOMIC_RELAXED) == 0) {
    __atomic_store_n(&header->switches_refused, (uint64_t)-error, __ATOMIC_RELAXED);
  }
}

// False: it cannot be watched, which is counted unless it has just ended.
static bool open_watch(struct vprof_watched* thread) {
  if (seccomp_mode() != watch_list.sandbox) {
    refused(-EPERM);
    return false;
  }
  const long fd = open_event(thread->tid);
  if (fd < 0) {
    if (fd != -ESRCH) {
      refused(fd);
    }
    return false;
  }
  const long page = vprof_syscall(SYS_mmap, 0, (1 + kRingPages) * VPROF_PAGE_BYTES,
                                  PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (page < 0 && page > -4096) {
    vprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
    refused(page);
    return false;
  }
  thread->page = (struct perf_event_mmap_page*)page;
  thread->fd = (int)fd;
  return true;
}

static void close_watch(struct vprof_watched* thread) {
  if (thread->page == NULL) {
    return;
  }
  vprof_syscall(SYS_munmap, (long)thread->page, (1 + kRingPages) * VPROF_PAGE_BYTES, 0, 0, 0, 0);
  vprof_syscall(SYS_close, thread->fd, 0, 0, 0, 0, 0);
  thread->page = NULL;
  thread->out = thread->recorded = thread->passed = 0;
}

// Does nothing if there is no table.
static void watch(uint32_t tid, uint32_t serial) {
  if (watch_list.watched == NULL) {
    return;
  }
  if (watch_list.count == kMostThreads) {
    return refused(-EMFILE);
  }
  struct vprof_watched thread = {NULL, -1, tid, serial, 0, 0, 0};
  if (open_watch(&thread)) {
    watch_list.watched[watch_list.count++] = thread;
  }
}

static void unwatch(unsigned index) {
  close_watch(&watch_list.watched[index]);
  watch_list.watched[index] = watch_list.watched[--watch_list.count];
}

static bool has_ended(const struct vprof_watched* thread) {
  return vprof_syscall(SYS_tgkill, (long)vprof_trace.pid, (long)thread->tid, 0, 0, 0, 0) == -ESRCH;
}

// An id may be another thread's later, so whoever has ended meanwhile is forgotten.
void vprof_hook_helper_rest(void) {
  for (unsigned i = watch_list.count; i-- > 0;) {
    close_watch(&watch_list.watched[i]);
    if (has_ended(&watch_list.watched[i])) {
      unwatch(i);
    }
  }
}

void vprof_hook_helper_resume(void) {
  for (unsigned i = watch_list.count; i-- > 0;) {
    if (watch_list.watched[i].page == NULL && !open_watch(&watch_list.watched[i])) {
      unwatch(i);
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

// A record may wrap around the end of the ring.
static void copy_out(const struct vprof_watched* thread, uint64_t at, void* to, size_t bytes) {
  const char* ring = (const char*)thread->page + VPROF_PAGE_BYTES;
  for (size_t i = 0; i < bytes; ++i) {
    ((char*)to)[i] = ring[(at + i) % (kRingPages * VPROF_PAGE_BYTES)];
  }
}

// Returns the bytes of all records, including those that found no room in the ring. Of a thread
// whose event is closed: 0.
static uint64_t drain(struct vprof_watched* thread, const struct vprof_conversion* to,
                      struct vprof_helper_output* out) {
  struct perf_event_mmap_page* page = thread->page;
  if (page == NULL) {
    return 0;
  }
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
      break;  // not a record, so the start of the next one is unknown
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

// Adds `bytes` of records in `ns`. Every other record is of a switch away. Decides over a period so
// long that a moment without a processor, of the thread or of the helper, does not matter.
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

bool vprof_hook_helper_holds(void) {
  return vprof_hook_helper_wanted() || __atomic_load_n(&watch_list.count, __ATOMIC_RELAXED) != 0;
}

uint64_t vprof_hook_helper_round(struct vprof_helper_output* out, uint64_t now, bool finishing) {
  if (finishing) {
    watch_list.next = 0;
  }
  if (!finishing) {
    vprof_hook_helper_resume();
  }
  vprof_watch_requests_take(watch);
  if (watch_list.count == 0) {
    return UINT64_MAX;
  }
  if (now < watch_list.next) {
    return watch_list.next;
  }
  const bool check = now >= watch_list.next_check;
  if (check) {
    watch_list.next_check = now + kCheckEvery;
  }
  const struct vprof_conversion to = converter();
  uint64_t fullest = 0;
  for (unsigned i = watch_list.count; i-- > 0;) {
    const bool ended = check && has_ended(&watch_list.watched[i]);
    const uint64_t found = drain(&watch_list.watched[i], &to, out);
    if (found > fullest) {
      fullest = found;
    }
    if (ended) {
      unwatch(i);
    } else if (switches_too_often(&watch_list.watched[i], found, now - watch_list.last)) {
      vprof_count(&vprof_trace.header->let_go, 1);
      unwatch(i);
    }
  }
  enum { kRingBytes = kRingPages * VPROF_PAGE_BYTES };
  if (fullest > kRingBytes / 4 && watch_list.pause > kLeastPause) {
    watch_list.pause /= 2;
  }
  if (fullest < kRingBytes / 16 && watch_list.pause < kMostPause) {
    watch_list.pause *= 2;
  }
  watch_list.last = now;
  watch_list.next = now + watch_list.pause;
  return watch_list.next;
}
