// Read-write locks.
#define _GNU_SOURCE
#include "interpose/interpose.h"

static bool is_shared(const pthread_rwlock_t* lock) {
#ifdef __GLIBC__
  return lock->__data.__shared != 0;
#else
  return (void)lock, false;
#endif
}

// Without a wait: recorded if others wait.
static int got(const pthread_rwlock_t* lock, bool for_reading) {
  vprof_acquired(VPROF_CLASS_RWLOCK, VPROF_EV_ACQUIRE_RWLOCK, for_reading, (uintptr_t)lock,
                 is_shared(lock));
  return 0;
}

// glibc checks clock and limit first; if they are bad, the real function reports that. The attempt
// returns EBUSY where the lock would wait or deadlock (the real function then returns EDEADLK), and
// EAGAIN, like the lock, if there are too many readers.
#define LOCK(kind, attempt, valid, name, ...)                                         \
  const struct vprof_real* real = vprof_real_functions();                             \
  if (real->name == NULL) return ENOSYS;                                              \
  if (!vprof_sync_on(VPROF_CLASS_RWLOCK) || !(valid)) return real->name(__VA_ARGS__); \
  const int tried = real->attempt(lock);                                              \
  if (tried == 0) return got(lock, VPROF_EV_WAIT_##kind == VPROF_EV_WAIT_RDLOCK);     \
  if (tried != EBUSY) return tried;                                                   \
  VPROF_BLOCK(kind, lock, is_shared(lock), real->name(__VA_ARGS__), result)

// The three ways to take the lock, for reading or for writing.
#define LOCK_FUNCTIONS(kind, attempt, name, timed_name, clock_name)                         \
  VPROF_RT_API int name(pthread_rwlock_t* lock) { LOCK(kind, attempt, true, name, lock); }  \
  VPROF_RT_API int timed_name(pthread_rwlock_t* lock, const struct timespec* limit) {       \
    LOCK(kind, attempt, vprof_valid_limit(CLOCK_REALTIME, limit), timed_name, lock, limit); \
  }                                                                                         \
  VPROF_RT_API int clock_name(pthread_rwlock_t* lock, clockid_t clock,                      \
                              const struct timespec* limit) {                               \
    LOCK(kind, attempt, vprof_valid_limit(clock, limit), clock_name, lock, clock, limit);   \
  }

LOCK_FUNCTIONS(RDLOCK, pthread_rwlock_tryrdlock, pthread_rwlock_rdlock, pthread_rwlock_timedrdlock,
               pthread_rwlock_clockrdlock)
LOCK_FUNCTIONS(WRLOCK, pthread_rwlock_trywrlock, pthread_rwlock_wrlock, pthread_rwlock_timedwrlock,
               pthread_rwlock_clockwrlock)

VPROF_RT_API int pthread_rwlock_tryrdlock(pthread_rwlock_t* lock) {
  const int tried = VPROF_REAL(pthread_rwlock_tryrdlock)(lock);
  return tried == 0 ? got(lock, true) : tried;
}

VPROF_RT_API int pthread_rwlock_trywrlock(pthread_rwlock_t* lock) {
  const int tried = VPROF_REAL(pthread_rwlock_trywrlock)(lock);
  return tried == 0 ? got(lock, false) : tried;
}

VPROF_RT_API int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  VPROF_RELEASE(RWLOCK, lock, is_shared(lock), pthread_rwlock_unlock);
}
