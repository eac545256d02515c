// Semaphores.
#define _GNU_SOURCE
#include "interpose/interpose.h"

// glibc's `struct new_sem` on 64-bit machines: value and waiters, then 0 if it is private.
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

// Without a wait: recorded if others wait.
static int got(const sem_t* semaphore) {
  vprof_acquired(VPROF_CLASS_SEM, VPROF_EV_ACQUIRE_SEM, 0, (uintptr_t)semaphore,
                 is_shared(semaphore));
  return 0;
}

#define WAIT_FOR(before, valid, name, ...)                                         \
  const struct vprof_real* real = vprof_real_functions();                          \
  if (real->name == NULL) return errno = ENOSYS, -1;                               \
  if (!vprof_sync_on(VPROF_CLASS_SEM) || !(valid)) return real->name(__VA_ARGS__); \
  before;                                                                          \
  const int errno_before = errno;                                                  \
  if (real->sem_trywait(semaphore) == 0) return got(semaphore);                    \
  if (errno != EAGAIN) return -1;                                                  \
  errno = errno_before;                                                            \
  VPROF_BLOCK(SEM, semaphore, is_shared(semaphore), real->name(__VA_ARGS__),       \
              result != 0 ? errno : 0)

// sem_wait acts on a pending cancellation even if the semaphore is free; the others only where they
// block.
VPROF_CANCELLABLE int sem_wait(sem_t* semaphore) {
  WAIT_FOR(pthread_testcancel(), true, sem_wait, semaphore);
}

VPROF_CANCELLABLE int sem_timedwait(sem_t* semaphore, const struct timespec* limit) {
  WAIT_FOR((void)0, vprof_valid_limit(CLOCK_REALTIME, limit), sem_timedwait, semaphore, limit);
}

VPROF_CANCELLABLE int sem_clockwait(sem_t* semaphore, clockid_t clock,
                                    const struct timespec* limit) {
  WAIT_FOR((void)0, vprof_valid_limit(clock, limit), sem_clockwait, semaphore, clock, limit);
}

VPROF_RT_API int sem_trywait(sem_t* semaphore) {
  return VPROF_REAL(sem_trywait)(semaphore) == 0 ? got(semaphore) : -1;
}

VPROF_RT_API int sem_post(sem_t* semaphore) {
  VPROF_RELEASE(SEM, semaphore, is_shared(semaphore), sem_post);
}
