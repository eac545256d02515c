// C11 threads. Their objects are those of pthreads under other names, but libc calls the pthread
// functions internally, past ours.
#define _GNU_SOURCE
#include <threads.h>

#include "interpose/mutex.h"

// As an errno value.
static int error_of(int result) {
  return result == thrd_error ? EINVAL : result == thrd_timedout ? ETIMEDOUT : 0;
}

// Without a wait: recorded if others wait.
static int got(const mtx_t* mutex) {
  vprof_acquired(VPROF_CLASS_MUTEX, VPROF_EV_ACQUIRE_MUTEX, 0, (uintptr_t)mutex, false);
  return thrd_success;
}

#define LOCK(name, ...)                                                  \
  const struct vprof_real* real = vprof_real_functions();                \
  if (real->name == NULL) return thrd_error;                             \
  if (!vprof_sync_on(VPROF_CLASS_MUTEX)) return real->name(__VA_ARGS__); \
  const int tried = real->mtx_trylock(mutex);                            \
  if (tried == thrd_success) return got(mutex);                          \
  if (tried != thrd_busy) return tried;                                  \
  VPROF_BLOCK(MUTEX, mutex, false, real->name(__VA_ARGS__), error_of(result))

VPROF_RT_API int mtx_lock(mtx_t* mutex) { LOCK(mtx_lock, mutex); }
VPROF_RT_API int mtx_timedlock(mtx_t* restrict mutex, const struct timespec* restrict limit) {
  LOCK(mtx_timedlock, mutex, limit);
}

VPROF_RT_API int mtx_trylock(mtx_t* mutex) {
  if (VPROF_REAL(mtx_trylock) == NULL) {
    return thrd_error;
  }
  const int tried = VPROF_REAL(mtx_trylock)(mutex);
  return tried == thrd_success ? got(mutex) : tried;
}

VPROF_RT_API int mtx_unlock(mtx_t* mutex) {
  if (VPROF_REAL(mtx_unlock) == NULL) {
    return thrd_error;
  }
  struct vprof_release release;
  vprof_mutex_release_begin(&release, (pthread_mutex_t*)mutex);
  const int result = VPROF_REAL(mtx_unlock)(mutex);
  _Static_assert(thrd_success == 0, "as with pthreads");
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, result);
  return result;
}

#define WAIT_FOR(name, ...)                                             \
  const struct vprof_real* real = vprof_real_functions();               \
  if (real->name == NULL) return thrd_error;                            \
  if (!vprof_sync_on(VPROF_CLASS_COND)) return real->name(__VA_ARGS__); \
  VPROF_CONDITION_WAIT(condition, false, mutex, real->name(__VA_ARGS__), error_of(result))

VPROF_CANCELLABLE int cnd_wait(cnd_t* condition, mtx_t* mutex) {
  WAIT_FOR(cnd_wait, condition, mutex);
}
VPROF_CANCELLABLE int cnd_timedwait(cnd_t* restrict condition, mtx_t* restrict mutex,
                                    const struct timespec* restrict limit) {
  WAIT_FOR(cnd_timedwait, condition, mutex, limit);
}

VPROF_RT_API int cnd_signal(cnd_t* condition) {
  if (VPROF_REAL(cnd_signal) == NULL) {
    return thrd_error;
  }
  VPROF_WAKE(COND, condition, false, cnd_signal, 0);
}
VPROF_RT_API int cnd_broadcast(cnd_t* condition) {
  if (VPROF_REAL(cnd_broadcast) == NULL) {
    return thrd_error;
  }
  VPROF_WAKE(COND, condition, false, cnd_broadcast, 1);
}

VPROF_CANCELLABLE int thrd_join(thrd_t thread, int* value) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->thrd_join == NULL) {
    return thrd_error;
  }
  if (!vprof_sync_on(VPROF_CLASS_JOIN)) {
    return real->thrd_join(thread, value);
  }
  VPROF_WAIT wait = vprof_call_begin(VPROF_EV_WAIT_JOIN, (uintptr_t)thread, false);
  return real->thrd_join(thread, value);
}
