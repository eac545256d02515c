// Who waits for what, so that uncontended operations need not record anything.
//
//   waiter                                       releaser
//    1. try: succeeds -> nothing to record        1. look: does anybody wait?  yes -> number n = ++sequence, time
//    2. ++count                                   2. really release
//    3. really wait                               3. yes before -> write RELEASE n
//    4. number = sequence; --count                   no before, but now -> take number and time, write RELEASE
//    5. write WAIT with that number
//
// Entries are found by a hash of the object's address; objects that share one only cause releases that nobody looks for.
//
// Why no wait of any length goes without its release. The waiter counts itself (2) before it waits (3). If it did so before the
// releaser's look (1), the releaser numbers its release before it releases, so before the waiter can go on and read the number (4):
// the greatest number that the waiter sees is that of the release that ended its wait, or belongs to a later release by somebody who
// had the object since, which for a mutex means that the wait was not over. If it counted itself between (1) and (3 of the releaser),
// the second look finds it. Its wait then lies within those few instructions of the releaser, and its number may miss the release by
// one; readers see that from the times and call the edge inferred. If it counted itself after the second look, the object was already
// free, and it did not wait for this release. (The count is changed by a sequentially consistent operation; the second look must not
// pass the release: on x86-64 no load passes the locked instruction in an unlock, elsewhere a fence stands between them.)
//
// The table is shared memory made before any fork, so that processes that fork from one another and share a mutex see each other.
#ifndef VPROF_WAITERS_H
#define VPROF_WAITERS_H

#include "recording/trace.h"

struct vprof_waiters {
  atomic_uint count;
  uint32_t unused;
  atomic_uint_fast64_t sequence;  // of recorded releases
};

enum { VPROF_WAITERS_BITS = 12 };

// NULL unless synchronisation is recorded.
extern struct vprof_waiters* vprof_waiters;

static inline bool vprof_sync_on(uint32_t class) {
  return (vprof_settings.classes & class) != 0 && vprof_waiters != NULL && vprof_active();
}

static inline struct vprof_waiters* vprof_waiters_of(uint64_t object) {
  return &vprof_waiters[object * UINT64_C(0x9e3779b97f4a7c15) >> (64 - VPROF_WAITERS_BITS)];
}

// Behind the table, in the same shared memory: how many threads are in a call that may wait for a stream. What each of them waits for is asked only
// if it has waited, since that takes system calls.
static inline atomic_uint* vprof_blocked_on_streams(void) {
  return &vprof_waiters[1 << VPROF_WAITERS_BITS].count;
}

struct vprof_wait {
  struct vprof_waiters* waiters;
  uint64_t start;
  uint64_t object;
  uint64_t aux;
  uint32_t event;     // 0: do not record (it did not block)
  uint32_t least_us;  // shorter ones are not recorded
};

// Declared with the cleanup attribute, so that a cancelled thread, too, leaves the table and records how long it waited.
#define VPROF_WAIT __attribute__((cleanup(vprof_wait_end))) struct vprof_wait
struct vprof_wait vprof_wait_begin(uint32_t event, uint64_t object, bool shared);
void vprof_wait_end(struct vprof_wait* wait);
// Of an object that was not known before, so that nobody counts as waiting for it.
void vprof_wait_write(uint32_t event, uint64_t start, uint64_t end, uint64_t object, bool shared);
// For calls that cannot be tried first: those that took less than 5 us did not wait.
struct vprof_wait vprof_call_begin(uint32_t event, uint64_t object, bool shared);

struct vprof_release {
  struct vprof_waiters* waiters;  // NULL: nothing is recorded
  uint64_t time;                  // 0: nobody waited before the release
  uint64_t sequence;
  uint64_t object;
  uint64_t aux;
};

void vprof_release_take(struct vprof_release* release);
void vprof_release_write(const struct vprof_release* release, uint32_t event, uint64_t payload);

// The two looks. `release` is filled by the first; the object may be gone by the second.
static inline void vprof_release_begin(struct vprof_release* release, uint32_t class,
                                       uint64_t object, bool shared) {
  release->waiters = NULL;
  if (!vprof_sync_on(class)) {
    return;
  }
  release->waiters = vprof_waiters_of(object);
  release->object = object;
  release->aux = shared ? VPROF_AUX_SHARED : 0;
  release->time = 0;
  if (atomic_load_explicit(&release->waiters->count, memory_order_relaxed) != 0) {
    vprof_release_take(release);
  }
}

static inline void vprof_release_end(struct vprof_release* release, uint32_t event, int result) {
  if (release->waiters == NULL || result != 0) {
    return;
  }
#if !defined(__x86_64__)
  atomic_thread_fence(memory_order_seq_cst);
#endif
  if (release->time == 0) {
    if (__builtin_expect(atomic_load_explicit(&release->waiters->count, memory_order_relaxed) == 0,
                         1)) {
      return;
    }
    vprof_release_take(release);
  }
  vprof_release_write(release, event, 0);
}

#endif
