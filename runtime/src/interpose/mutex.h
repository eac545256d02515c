// What mutexes and condition variables share: looking at a mutex, and giving one up.
#ifndef VPROF_MUTEX_H
#define VPROF_MUTEX_H

#include "interpose/interpose.h"

#ifdef __GLIBC__
enum { kVprofMutexShared = 128 };
enum { kVprofMutexLocked = 1, kVprofMutexContended = 2 };  // 2: somebody may sleep

// The mark of a plain mutex. It is in the field for the number of spins, which glibc uses for
// adaptive mutexes only. Like the owner, it belongs to the holder of the mutex, so a thread may
// hold any number of marked mutexes.
enum vprof_mutex_mark {
  VPROF_MARK_NONE,
  VPROF_MARK_WAITED_FOR,  // free: its last release was recorded, so somebody waits for it, and
                          // whoever gets it next is to record since when
  VPROF_MARK_GOT_AHEAD,   // held: that was recorded; its release is recorded, too
  VPROF_MARK_RETURNED     // held since a condition wait returned
};

// A mutex of type normal or recursive, not robust, without a priority protocol.
static inline bool vprof_mutex_plain(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & ~(kVprofMutexShared | PTHREAD_MUTEX_RECURSIVE_NP)) == 0;
}

static inline bool vprof_mutex_shared(const pthread_mutex_t* mutex) {
  return (mutex->__data.__kind & kVprofMutexShared) != 0;
}

// Whether somebody may sleep on a mutex that this thread holds.
static inline bool vprof_mutex_contended(const pthread_mutex_t* mutex) {
  return __atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) == kVprofMutexContended;
}

static inline enum vprof_mutex_mark vprof_mutex_mark_of(const pthread_mutex_t* mutex) {
  return vprof_mutex_plain(mutex) ? (enum vprof_mutex_mark)mutex->__data.__spins : VPROF_MARK_NONE;
}
static inline void vprof_mutex_mark(pthread_mutex_t* mutex, enum vprof_mutex_mark mark) {
  if (vprof_mutex_plain(mutex) && mutex->__data.__spins != (short)mark) {
    mutex->__data.__spins = (short)mark;
  }
}
#else
// Another layout: objects count as private, and nothing is known beyond what the calls return.
static inline bool vprof_mutex_plain(const pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool vprof_mutex_shared(const pthread_mutex_t* mutex) { return (void)mutex, false; }
static inline bool vprof_mutex_contended(const pthread_mutex_t* mutex) {
  return (void)mutex, false;
}
static inline enum vprof_mutex_mark vprof_mutex_mark_of(const pthread_mutex_t* mutex) {
  return (void)mutex, VPROF_MARK_NONE;
}
static inline void vprof_mutex_mark(pthread_mutex_t* mutex, enum vprof_mutex_mark mark) {
  (void)mutex, (void)mark;
}
#endif

// The first look of a release (waiters.h). Threads that wait for a condition want their mutex back
// only once they are woken; they then sleep on the mutex, or this thread got ahead of one.
static inline void vprof_mutex_release_begin(struct vprof_release* release,
                                             pthread_mutex_t* mutex) {
  vprof_release_begin(release, VPROF_CLASS_MUTEX, (uintptr_t)mutex, vprof_mutex_shared(mutex));
  const bool got_ahead = vprof_mutex_mark_of(mutex) == VPROF_MARK_GOT_AHEAD;
  vprof_mutex_mark(mutex, VPROF_MARK_NONE);
  if (vprof_self.returned_with == (uintptr_t)mutex) {
    vprof_self.returned_with = vprof_self.returned_from = 0;
  }
  if (release->waiters == NULL) {
    return;
  }
  const bool contended = vprof_mutex_contended(mutex);
  if (release->time == 0 && (contended || got_ahead) &&
      atomic_load_explicit(&release->waiters->returning, memory_order_relaxed) != 0) {
    vprof_release_take(release);
  }
  // While a thread that was woken has yet to run, the lock word is 1 and others get ahead of it.
  if (release->time != 0) {
    vprof_mutex_mark(mutex, VPROF_MARK_WAITED_FOR);
  }
}

// ---- condition waits, which give their mutex up and get it back inside libc

// Begins a wait; called before libc releases the mutex. The release is recorded with the time of
// the call.
struct vprof_wait vprof_condition_wait_begin(uint64_t condition, bool shared,
                                             pthread_mutex_t* mutex);

// The wait has returned: this thread has the mutex again.
void vprof_condition_wait_returned(uint64_t condition, pthread_mutex_t* mutex);

// The rest of an interposed condition wait: makes the blocking `call` and returns its result.
#define VPROF_CONDITION_WAIT(condition, shared, mutex, call, error)                            \
  VPROF_WAIT wait =                                                                            \
      vprof_condition_wait_begin((uintptr_t)(condition), (shared), (pthread_mutex_t*)(mutex)); \
  const int result = (call);                                                                   \
  vprof_wait_result(&wait, (error));                                                           \
  vprof_condition_wait_returned((uintptr_t)(condition), (pthread_mutex_t*)(mutex));            \
  return result

#endif
