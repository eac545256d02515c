// Condition variables. A wait lasts from the call to the return, so it includes the time to get the
// mutex back.
//
// A waiter counts itself before libc releases the mutex for it. So a signaller that holds the
// mutex, or has held it since, sees the waiter. One that signals without the mutex may miss it,
// just as its signal may miss the waiter.
#define _GNU_SOURCE
#include "interpose/interpose.h"

static bool is_shared(const pthread_cond_t* condition) {
#ifdef __GLIBC__
  return (condition->__data.__wrefs & 1) != 0;
#else
  return (void)condition, false;
#endif
}

#define WAIT_FOR(name, ...)                                             \
  const struct vprof_real* real = vprof_real_functions();               \
  if (real->name == NULL) return ENOSYS;                                \
  if (!vprof_sync_on(VPROF_CLASS_COND)) return real->name(__VA_ARGS__); \
  vprof_mutex_released_inside(mutex);                                   \
  VPROF_BLOCK(COND, condition, is_shared(condition), real->name(__VA_ARGS__), result)

VPROF_CANCELLABLE int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  WAIT_FOR(pthread_cond_wait, condition, mutex);
}

VPROF_CANCELLABLE int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                             const struct timespec* limit) {
  WAIT_FOR(pthread_cond_timedwait, condition, mutex, limit);
}

VPROF_CANCELLABLE int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                             clockid_t clock, const struct timespec* limit) {
  WAIT_FOR(pthread_cond_clockwait, condition, mutex, clock, limit);
}

VPROF_RT_API int pthread_cond_signal(pthread_cond_t* condition) {
  VPROF_WAKE(COND, condition, is_shared(condition), pthread_cond_signal, 0);
}

VPROF_RT_API int pthread_cond_broadcast(pthread_cond_t* condition) {
  VPROF_WAKE(COND, condition, is_shared(condition), pthread_cond_broadcast, 1);
}
