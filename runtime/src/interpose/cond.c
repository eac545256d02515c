// Condition variables. A wait lasts from the call to the return, so it includes the time to get the
// mutex back. The record names the mutex, so that its holders explain that time.
//
// A wait that follows another on the same condition, with the mutex held in between, is a turn of a
// loop around one predicate. For that the mutex is marked from the return of the first: its release
// takes the slow path and ends the loop.
//
// A waiter counts itself before libc releases the mutex for it. So a signaller that holds the
// mutex, or has held it since, sees the waiter. One that signals without the mutex may miss it,
// just as its signal may miss the waiter.
#define _GNU_SOURCE
#include "interpose/mutex.h"

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
  VPROF_CONDITION_WAIT(condition, is_shared(condition), mutex, real->name(__VA_ARGS__), result)

struct vprof_wait vprof_condition_wait_begin(uint64_t condition, bool shared,
                                             pthread_mutex_t* mutex) {
  const bool again =
      vprof_self.returned_with == (uintptr_t)mutex && vprof_self.returned_from == condition;
  struct vprof_release release;
  vprof_mutex_release_begin(&release, mutex);
  vprof_release_write_seen(&release, VPROF_EV_RELEASE_MUTEX, 0);
  struct vprof_wait wait = vprof_wait_begin(VPROF_EV_WAIT_COND, condition, shared);
  wait.aux |= again ? VPROF_AUX_AGAIN : 0;
  wait.mutex = (uintptr_t)mutex;
  wait.mutex_aux = vprof_mutex_shared(mutex) ? VPROF_AUX_SHARED : 0;
  atomic_fetch_add(&vprof_waiters_of(wait.mutex)->returning, 1);
  return wait;
}

void vprof_condition_wait_returned(uint64_t condition, pthread_mutex_t* mutex) {
  vprof_mutex_mark(mutex, VPROF_MARK_RETURNED);
  vprof_self.returned_with = (uintptr_t)mutex;
  vprof_self.returned_from = condition;
}

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
