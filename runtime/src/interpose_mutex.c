#define _GNU_SOURCE
#include "interpose.h"

enum { kFree = -1 };  // of attempt(): call the real function, it will not wait

#ifdef __GLIBC__
// glibc's trylock of a robust mutex that is not recoverable leaves it locked for good, where its lock does not. So robust ones are only
// looked at: one that nobody or this thread owns is not waited for. (One that is taken at just that moment is, unrecorded.)
static __attribute__((noinline)) int look_at_robust(const pthread_mutex_t* mutex) {
  const uint32_t owner =
      (uint32_t)__atomic_load_n(&mutex->__data.__lock, __ATOMIC_RELAXED) & 0x3fffffff;
  return owner == 0 || owner == vprof_thread_id() ? kFree : EBUSY;
}
#endif

// EBUSY: it would block. The attempt has the same effects as the lock: recursive mutexes count up; an error-checking one answers EBUSY
// to its owner, and the real lock then EDEADLK, without waiting.
static int attempt(const struct vprof_real* real, pthread_mutex_t* mutex) {
  if (!vprof_sync_on()) return kFree;
#ifdef __GLIBC__
  if (__builtin_expect((mutex->__data.__kind & 16) != 0, 0)) return look_at_robust(mutex);
#endif
  return real->pthread_mutex_trylock(mutex);
}

#define LOCK_SLOWLY(mutex, tried, call)                                                     \
  if ((tried) == kFree) return call;                                                        \
  VPROF_WAIT wait =                                                                         \
      vprof_wait_begin(VPROF_EV_WAIT_MUTEX, (uintptr_t)(mutex), vprof_mutex_shared(mutex)); \
  const int slow_result = call;                                                             \
  if (vprof_did_not_wait(slow_result)) wait.event = 0;                                      \
  return slow_result

#define IS_FINAL(tried) (__builtin_expect((tried) != EBUSY && (tried) != kFree, 1))

static __attribute__((noinline)) int lock_slowly(const struct vprof_real* real, int tried,
                                                 pthread_mutex_t* mutex) {
  LOCK_SLOWLY(mutex, tried, real->pthread_mutex_lock(mutex));
}

VPROF_RT_API int pthread_mutex_lock(pthread_mutex_t* mutex) {
  const struct vprof_real* real = vprof_real_functions();
  const int tried = attempt(real, mutex);
  return IS_FINAL(tried) ? tried : lock_slowly(real, tried, mutex);
}

VPROF_RT_API int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* limit) {
  const struct vprof_real* real = vprof_real_functions();
  const int tried = attempt(real, mutex);
  if (IS_FINAL(tried)) return tried;
  LOCK_SLOWLY(mutex, tried, real->pthread_mutex_timedlock(mutex, limit));
}

VPROF_RT_API int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                         const struct timespec* limit) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->pthread_mutex_clocklock == NULL) return ENOSYS;
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC)
    return real->pthread_mutex_clocklock(mutex, clock, limit);
  const int tried = attempt(real, mutex);
  if (IS_FINAL(tried)) return tried;
  LOCK_SLOWLY(mutex, tried, real->pthread_mutex_clocklock(mutex, clock, limit));
}

VPROF_RT_API int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, (uintptr_t)mutex, vprof_mutex_shared(mutex));
  const int result = real->pthread_mutex_unlock(mutex);
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, result);
  return result;
}
