#define _GNU_SOURCE
#include "interpose.h"

// The attempt has the same effects as the lock for every type: recursive ones count up, robust ones report EOWNERDEAD and are owned. An
// error-checking one answers EBUSY to its owner, and the real lock then EDEADLK, without waiting.
static int try_lock(const struct vprof_real* real, pthread_mutex_t* mutex) {
  return vprof_sync_on() ? real->pthread_mutex_trylock(mutex) : EBUSY;
}

static bool blocks(int result) { return result == EBUSY; }

#define LOCK_SLOWLY(mutex, call)                                                                                            \
  if (!vprof_sync_on()) return call;                                                                                        \
  VPROF_WAIT wait = vprof_wait_begin(VPROF_EV_WAIT_MUTEX, (uintptr_t)(mutex), vprof_mutex_shared(mutex));                    \
  const int slow_result = call;                                                                                             \
  if (vprof_did_not_wait(slow_result)) wait.event = 0;                                                                      \
  return slow_result

static __attribute__((noinline)) int lock_slowly(const struct vprof_real* real, pthread_mutex_t* mutex) {
  LOCK_SLOWLY(mutex, real->pthread_mutex_lock(mutex));
}

VPROF_RT_API int pthread_mutex_lock(pthread_mutex_t* mutex) {
  const struct vprof_real* real = vprof_real_functions();
  const int result = try_lock(real, mutex);
  return blocks(result) ? lock_slowly(real, mutex) : result;
}

VPROF_RT_API int pthread_mutex_timedlock(pthread_mutex_t* mutex, const struct timespec* limit) {
  const struct vprof_real* real = vprof_real_functions();
  const int result = try_lock(real, mutex);
  if (!blocks(result)) return result;
  LOCK_SLOWLY(mutex, real->pthread_mutex_timedlock(mutex, limit));
}

VPROF_RT_API int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const struct timespec* limit) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->pthread_mutex_clocklock == NULL) return ENOSYS;
  if (clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) return real->pthread_mutex_clocklock(mutex, clock, limit);
  const int result = try_lock(real, mutex);
  if (!blocks(result)) return result;
  LOCK_SLOWLY(mutex, real->pthread_mutex_clocklock(mutex, clock, limit));
}

VPROF_RT_API int pthread_mutex_unlock(pthread_mutex_t* mutex) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, (uintptr_t)mutex, vprof_mutex_shared(mutex));
  const int result = real->pthread_mutex_unlock(mutex);
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, result);
  return result;
}
