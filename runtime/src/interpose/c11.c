// C11 threads. Their objects are those of pthreads under other names, but libc calls the latter inside, past our functions.
#define _GNU_SOURCE
#include <threads.h>

#include "interpose/interpose.h"

#define CANCELLABLE __attribute__((visibility("default")))

static bool is_shared(const cnd_t* condition) { return (void)condition, false; }

#define LOCK(name, ...)                                                             \
  const struct vprof_real* real = vprof_real_functions();                           \
  if (real->name == NULL) return thrd_error;                                        \
  if (!vprof_sync_on(VPROF_CLASS_MUTEX)) return real->name(__VA_ARGS__);            \
  const int tried = real->mtx_trylock(mutex);                                       \
  if (tried != thrd_busy) return tried;                                             \
  VPROF_WAIT wait = vprof_wait_begin(VPROF_EV_WAIT_MUTEX, (uintptr_t)mutex, false); \
  const int result = real->name(__VA_ARGS__);                                       \
  if (result == thrd_error) wait.event = 0;                                         \
  if (result == thrd_timedout) wait.aux |= VPROF_AUX_TIMED_OUT;                     \
  return result

VPROF_RT_API int mtx_lock(mtx_t* mutex) { LOCK(mtx_lock, mutex); }
VPROF_RT_API int mtx_timedlock(mtx_t* restrict mutex, const struct timespec* restrict limit) {
  LOCK(mtx_timedlock, mutex, limit);
}

VPROF_RT_API int mtx_unlock(mtx_t* mutex) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->mtx_unlock == NULL) {
    return thrd_error;
  }
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_MUTEX, (uintptr_t)mutex, false);
  const int result = real->mtx_unlock(mutex);
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, result != thrd_success);
  return result;
}

#define WAIT_FOR(name, ...)                                                             \
  const struct vprof_real* real = vprof_real_functions();                               \
  if (real->name == NULL) return thrd_error;                                            \
  if (!vprof_sync_on(VPROF_CLASS_COND)) return real->name(__VA_ARGS__);                 \
  vprof_mutex_released_inside((const pthread_mutex_t*)mutex);                           \
  VPROF_WAIT wait =                                                                     \
      vprof_wait_begin(VPROF_EV_WAIT_COND, (uintptr_t)condition, is_shared(condition)); \
  const int result = real->name(__VA_ARGS__);                                           \
  if (result == thrd_error) wait.event = 0;                                             \
  if (result == thrd_timedout) wait.aux |= VPROF_AUX_TIMED_OUT;                         \
  return result

CANCELLABLE int cnd_wait(cnd_t* condition, mtx_t* mutex) { WAIT_FOR(cnd_wait, condition, mutex); }
CANCELLABLE int cnd_timedwait(cnd_t* restrict condition, mtx_t* restrict mutex,
                              const struct timespec* restrict limit) {
  WAIT_FOR(cnd_timedwait, condition, mutex, limit);
}

#define WAKE(name, payload)                                                     \
  const struct vprof_real* real = vprof_real_functions();                       \
  if (real->name == NULL) return thrd_error;                                    \
  struct vprof_release release;                                                 \
  vprof_release_begin(&release, VPROF_CLASS_COND, (uintptr_t)condition, false); \
  const int result = real->name(condition);                                     \
  if (release.waiters != NULL && release.time != 0)                             \
    vprof_release_write(&release, VPROF_EV_RELEASE_COND, payload);              \
  return result

VPROF_RT_API int cnd_signal(cnd_t* condition) { WAKE(cnd_signal, 0); }
VPROF_RT_API int cnd_broadcast(cnd_t* condition) { WAKE(cnd_broadcast, 1); }

CANCELLABLE int thrd_join(thrd_t thread, int* value) {
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
