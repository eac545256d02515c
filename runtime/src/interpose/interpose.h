// What the interposed functions share.
//
// Each of them first tries the operation in a way that cannot block. If that succeeds, nothing has been waited for and nothing is
// recorded. Only a result that says "it would block" leads to the real, blocking call. That is the same to the caller, since libc's
// blocking functions begin with the same attempt; where they check something before it (a time limit, a clock, a pending
// cancellation), so do we, or leave it all to them.
#ifndef VPROF_INTERPOSE_H
#define VPROF_INTERPOSE_H

#include <errno.h>
#include <time.h>

#include "interpose/waiters.h"
#include "recording/real.h"

// A function of this libc that is not there can only be called by mistake.
#define VPROF_REAL(name) (vprof_real_functions()->name)

static inline bool vprof_valid_limit(clockid_t clock, const struct timespec* limit) {
  return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && limit->tv_nsec >= 0 &&
         limit->tv_nsec < 1000000000;
}

// Errors that are found without waiting.
static inline bool vprof_did_not_wait(int result) {
  return result == EDEADLK || result == EINVAL || result == EAGAIN || result == EPERM;
}

// What the result of a call that may have blocked says about the wait.
static inline void vprof_wait_result(struct vprof_wait* wait, int result) {
  if (vprof_did_not_wait(result)) {
    wait->event = 0;
  }
  if (result == ETIMEDOUT) {
    wait->aux |= VPROF_AUX_TIMED_OUT;
  }
}

// glibc's layout; elsewhere objects count as private.
static inline bool vprof_mutex_shared(const pthread_mutex_t* mutex) {
#ifdef __GLIBC__
  return (mutex->__data.__kind & 128) != 0;
#else
  return (void)mutex, false;
#endif
}

// A condition wait releases its mutex inside libc: the release is recorded as if it came at the call.
static inline void vprof_mutex_released_inside(const pthread_mutex_t* mutex) {
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_MUTEX, (uintptr_t)mutex, vprof_mutex_shared(mutex));
  if (release.waiters != NULL && release.time != 0) {
    vprof_release_write(&release, VPROF_EV_RELEASE_MUTEX, 0);
  }
}

#endif
