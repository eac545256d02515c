// Condition variables. A wait lasts from the call to the return, so it holds the time to get the mutex back, too.
//
// A waiter counts itself before it releases the mutex (inside libc), so a signaller that holds or has held the mutex since sees it. One that
// signals without the mutex may miss it, as its signal may miss the waiter. A wait that comes after the signal is not ended by it, so
// there is no second look.
#define _GNU_SOURCE
#include "interpose/interpose.h"

static bool is_shared(const pthread_cond_t* condition) {
#ifdef __GLIBC__
  return (condition->__data.__wrefs & 1) != 0;
#else
  return (void)condition, false;
#endif
}

#define WAIT_FOR(name, ...)                                                             \
  const struct vprof_real* real = vprof_real_functions();                               \
  if (real->name == NULL) return ENOSYS;                                                \
  if (!vprof_sync_on(VPROF_CLASS_COND)) return real->name(__VA_ARGS__);                 \
  vprof_mutex_released_inside(mutex);                                                   \
  VPROF_WAIT wait =                                                                     \
      vprof_wait_begin(VPROF_EV_WAIT_COND, (uintptr_t)condition, is_shared(condition)); \
  const int result = real->name(__VA_ARGS__);                                           \
  vprof_wait_result(&wait, result);                                                     \
  return result

// Cancellation unwinds through these, so they are not marked nothrow.
#define CANCELLABLE __attribute__((visibility("default")))

CANCELLABLE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  WAIT_FOR(pthread_cond_wait, condition, mutex);
}

CANCELLABLE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       const struct timespec* limit) {
  WAIT_FOR(pthread_cond_timedwait, condition, mutex, limit);
}

CANCELLABLE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                       clockid_t clock, const struct timespec* limit) {
  WAIT_FOR(pthread_cond_clockwait, condition, mutex, clock, limit);
}

VPROF_RT_API int pthread_cond_signal(pthread_cond_t* condition) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_COND, (uintptr_t)condition, is_shared(condition));
  const int result = real->pthread_cond_signal(condition);
  if (release.waiters != NULL && release.time != 0) {
    vprof_release_write(&release, VPROF_EV_RELEASE_COND, 0);
  }
  return result;
}

VPROF_RT_API int pthread_cond_broadcast(pthread_cond_t* condition) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_COND, (uintptr_t)condition, is_shared(condition));
  const int result = real->pthread_cond_broadcast(condition);
  if (release.waiters != NULL && release.time != 0) {
    vprof_release_write(&release, VPROF_EV_RELEASE_COND, 1);
  }
  return result;
}
