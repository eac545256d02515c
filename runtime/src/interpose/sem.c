#define _GNU_SOURCE
#include "interpose/interpose.h"

#define CANCELLABLE __attribute__((visibility("default")))

// glibc's `struct new_sem` on 64-bit machines: value and waiters, then 0 for private or the futex flag for shared.
static bool is_shared(const sem_t* semaphore) {
#if defined(__GLIBC__) && defined(__LP64__)
  struct vprof_sem_layout {
    uint64_t data;
    int shared;
  };
  return ((const struct vprof_sem_layout*)semaphore)->shared != 0;
#else
  return (void)semaphore, false;
#endif
}

#define WAIT_FOR(before, valid, name, ...)                                             \
  const struct vprof_real* real = vprof_real_functions();                              \
  if (real->name == NULL) {                                                            \
    errno = ENOSYS;                                                                    \
    return -1;                                                                         \
  }                                                                                    \
  if (!vprof_sync_on(VPROF_CLASS_SEM) || !(valid)) return real->name(__VA_ARGS__);     \
  before;                                                                              \
  const int errno_before = errno;                                                      \
  if (real->sem_trywait(semaphore) == 0) return 0;                                     \
  if (errno != EAGAIN) return -1;                                                      \
  errno = errno_before;                                                                \
  VPROF_WAIT wait =                                                                    \
      vprof_wait_begin(VPROF_EV_WAIT_SEM, (uintptr_t)semaphore, is_shared(semaphore)); \
  const int result = real->name(__VA_ARGS__);                                          \
  if (result != 0) vprof_wait_result(&wait, errno);                                    \
  return result

// A pending cancellation is acted upon by sem_wait even if the semaphore is free, by the others only where they block.
CANCELLABLE int sem_wait(sem_t* semaphore) {
  WAIT_FOR(pthread_testcancel(), true, sem_wait, semaphore);
}

CANCELLABLE int sem_timedwait(sem_t* semaphore, const struct timespec* limit) {
  WAIT_FOR((void)0, vprof_valid_limit(CLOCK_REALTIME, limit), sem_timedwait, semaphore, limit);
}

CANCELLABLE int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* limit) {
  WAIT_FOR((void)0, vprof_valid_limit(clock, limit), sem_clockwait, semaphore, clock, limit);
}

VPROF_RT_API int sem_post(sem_t* semaphore) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_SEM, (uintptr_t)semaphore, is_shared(semaphore));
  const int result = real->sem_post(semaphore);
  vprof_release_end(&release, VPROF_EV_RELEASE_SEM, result);
  return result;
}
