#define _GNU_SOURCE
#include "interpose/interpose.h"

static bool is_shared(const pthread_rwlock_t* lock) {
#ifdef __GLIBC__
  return lock->__data.__shared != 0;
#else
  return (void)lock, false;
#endif
}

// glibc checks clock and limit first; with bad ones the real function answers. The attempt says EBUSY where the lock would wait, be deadlocked
// (the real one then answers EDEADLK), or have too many readers (EAGAIN both).
#define LOCK(wait_kind, valid, try_name, name, ...)                                   \
  const struct vprof_real* real = vprof_real_functions();                             \
  if (real->name == NULL) return ENOSYS;                                              \
  if (!vprof_sync_on(VPROF_CLASS_RWLOCK) || !(valid)) return real->name(__VA_ARGS__); \
  const int result = real->try_name(lock);                                            \
  if (result != EBUSY) return result;                                                 \
  VPROF_WAIT wait = vprof_wait_begin(wait_kind, (uintptr_t)lock, is_shared(lock));    \
  const int slow_result = real->name(__VA_ARGS__);                                    \
  vprof_wait_result(&wait, slow_result);                                              \
  return slow_result

#define READ_LOCK(valid, name, ...) \
  LOCK(VPROF_EV_WAIT_RDLOCK, valid, pthread_rwlock_tryrdlock, name, __VA_ARGS__)
#define WRITE_LOCK(valid, name, ...) \
  LOCK(VPROF_EV_WAIT_WRLOCK, valid, pthread_rwlock_trywrlock, name, __VA_ARGS__)

VPROF_RT_API int pthread_rwlock_rdlock(pthread_rwlock_t* lock) {
  READ_LOCK(true, pthread_rwlock_rdlock, lock);
}

VPROF_RT_API int pthread_rwlock_timedrdlock(pthread_rwlock_t* lock, const struct timespec* limit) {
  READ_LOCK(vprof_valid_limit(CLOCK_REALTIME, limit), pthread_rwlock_timedrdlock, lock, limit);
}

VPROF_RT_API int pthread_rwlock_clockrdlock(pthread_rwlock_t* lock, clockid_t clock,
                                            const struct timespec* limit) {
  READ_LOCK(vprof_valid_limit(clock, limit), pthread_rwlock_clockrdlock, lock, clock, limit);
}

VPROF_RT_API int pthread_rwlock_wrlock(pthread_rwlock_t* lock) {
  WRITE_LOCK(true, pthread_rwlock_wrlock, lock);
}

VPROF_RT_API int pthread_rwlock_timedwrlock(pthread_rwlock_t* lock, const struct timespec* limit) {
  WRITE_LOCK(vprof_valid_limit(CLOCK_REALTIME, limit), pthread_rwlock_timedwrlock, lock, limit);
}

VPROF_RT_API int pthread_rwlock_clockwrlock(pthread_rwlock_t* lock, clockid_t clock,
                                            const struct timespec* limit) {
  WRITE_LOCK(vprof_valid_limit(clock, limit), pthread_rwlock_clockwrlock, lock, clock, limit);
}

VPROF_RT_API int pthread_rwlock_unlock(pthread_rwlock_t* lock) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_RWLOCK, (uintptr_t)lock, is_shared(lock));
  const int result = real->pthread_rwlock_unlock(lock);
  vprof_release_end(&release, VPROF_EV_RELEASE_RWLOCK, result);
  return result;
}
