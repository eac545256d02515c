// Who waits for what, so that uncontended operations record nothing.
//
//   waiter                                     releaser
//    1. try: succeeds -> nothing to record      1. look: does anybody wait?
//    2. ++count                                      yes -> number n = ++sequence, take the time
//    3. really wait                             2. really release
//    4. number = sequence; --count              3. waiters at 1. -> write RELEASE n
//    5. write WAIT with that number                none then, but now -> number, time, RELEASE
//
// Entries are found by a hash of the object's address. Objects that share an entry only cause
// releases that nobody looks for.
//
// Claim: every wait that lasts longer than a few instructions finds its release. There are three
// cases, by when the waiter counts itself (2).
//
//  - Before the releaser's first look. The releaser then takes a number before it releases, hence
//    before the waiter can go on and read the number (4). The greatest number that the waiter sees
//    is that of the release that ended its wait. It could be a later one only if somebody took and
//    released the object in between, and for a mutex that means the wait was not over.
//
//  - Between the first look and the second. The second look finds it. Its wait lies within those
//    few instructions of the releaser, and its number may miss the release by one. Readers see that
//    from the times and call the edge inferred.
//
//  - After the second look. Then the object was already free, and the wait was not for this
//    release.
//
// Memory order: the count changes by a sequentially consistent operation, and the second look must
// not be reordered before the release. On x86-64 no load passes the locked instruction of an
// unlock; elsewhere a fence stands between them.
//
// Who held the object at each moment of a wait? A release ends a hold. The hold began at the end of
// the holder's own wait, or at an ACQUIRE event: a thread that gets the object without waiting,
// while others wait, writes one. A holder with neither had the object before any of the waiters
// came.
//
// The table is shared memory made before any fork, so processes that fork from one another and
// share a mutex see each other's waiters.
#ifndef VPROF_WAITERS_H
#define VPROF_WAITERS_H

#include <errno.h>
#include <stdatomic.h>

#include "base/clock.h"
#include "base/settings.h"
#include "recording/buffer.h"
#include "storage/trace.h"

struct vprof_waiters {
  atomic_uint count;
  // Threads that wait for a condition and will want this mutex back. They only matter to a release
  // that finds somebody asleep on the mutex.
  atomic_uint returning;
  atomic_uint_fast64_t sequence;  // of recorded releases
};

enum { VPROF_WAITERS_BITS = 12 };

// NULL unless synchronisation is recorded.
extern struct vprof_waiters* vprof_waiters;

// Makes the table. Constructor only.
void vprof_waiters_init(void);

// Are waits of these classes to be recorded, now or at another time? What their records need to
// know is kept up to date meanwhile.
static inline bool vprof_sync_wanted(uint32_t classes) {
  return (vprof_settings.classes & classes) != 0 && vprof_waiters != NULL && vprof_wanted();
}

// Are they recorded now? Any thread, any time; the functions below only if so.
static inline bool vprof_sync_on(uint32_t classes) {
  return vprof_sync_wanted(classes) && vprof_recording();
}

static inline struct vprof_waiters* vprof_waiters_of(uint64_t object) {
  return &vprof_waiters[object * UINT64_C(0x9e3779b97f4a7c15) >> (64 - VPROF_WAITERS_BITS)];
}

// How many threads are in a call that may wait for a stream: behind the table, in the same shared
// memory. What a thread waits for takes system calls to find out, so that is asked only after it
// has waited.
static inline atomic_uint* vprof_blocked_on_streams(void) {
  return &vprof_waiters[1 << VPROF_WAITERS_BITS].count;
}

// How many threads wait until one of several descriptors has room (poll and the like). A reader
// cannot know for which.
static inline atomic_uint* vprof_blocked_for_room(void) {
  return &vprof_waiters[(1 << VPROF_WAITERS_BITS) + 1].count;
}

// ---- waiting

struct vprof_wait {
  struct vprof_waiters* waiters;
  uint64_t start;
  uint64_t object;
  uint64_t aux;
  uint32_t event;     // 0: do not record (it did not block)
  uint32_t least_us;  // shorter waits are not recorded
  // Of a condition wait, else 0: the mutex that it gives up and gets back.
  uint64_t mutex;
  uint64_t mutex_aux;
  uint64_t limit;  // of a poll: as in vprof_aux
};

// Declares a wait. The cleanup runs also when the thread is cancelled: it leaves the table, and
// records how long it waited.
#define VPROF_WAIT __attribute__((cleanup(vprof_wait_end))) struct vprof_wait
struct vprof_wait vprof_wait_begin(uint32_t event, uint64_t object, bool shared);

// For calls that cannot be tried first: those that take less did not wait.
enum { VPROF_LEAST_WAIT_US = 5 };
struct vprof_wait vprof_call_begin(uint32_t event, uint64_t object, bool shared);

void vprof_wait_end(struct vprof_wait* wait);

// `result`: of the call, which has set errno if it is -1. `gave_up`: the value of errno that says
// that its time limit has passed. By EAGAIN many calls say instead that they do not block.
static inline void vprof_call_result(struct vprof_wait* wait, long result, int gave_up) {
  if (result == -1 && errno == gave_up) {
    wait->aux |= VPROF_AUX_TIMED_OUT;
  }
}

// Records a wait for an object that was not known while it lasted, so nobody was counted as waiting
// for it.
void vprof_wait_write(const struct vprof_wait* wait, uint64_t end);

// ---- acquiring without a wait

void vprof_acquire_write(uint32_t event, uint64_t payload, uint64_t object, bool shared);

// Records that this thread got the object at once, if others wait for it.
static inline void vprof_acquired(uint32_t class, uint32_t event, uint64_t payload, uint64_t object,
                                  bool shared) {
  if (vprof_sync_on(class) &&
      atomic_load_explicit(&vprof_waiters_of(object)->count, memory_order_relaxed) != 0) {
    vprof_acquire_write(event, payload, object, shared);
  }
}

// ---- releasing

struct vprof_release {
  struct vprof_waiters* waiters;  // NULL: nothing is recorded
  uint64_t time;                  // 0: nobody waited before the release
  uint64_t sequence;
  uint64_t object;
  uint64_t aux;
};

// Takes the number and the time.
void vprof_release_take(struct vprof_release* release);
void vprof_release_write(const struct vprof_release* release, uint32_t event, uint64_t payload);

// The first look; fills in `release`.
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

// The second look, after the release; records nothing unless `result` is 0. The object may be gone
// by now, so only its address is used.
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

// Instead of the second look: records the release if the first one saw a waiter.
static inline void vprof_release_write_seen(const struct vprof_release* release, uint32_t event,
                                            uint64_t payload) {
  if (release->waiters != NULL && release->time != 0) {
    vprof_release_write(release, event, payload);
  }
}

#endif
