// What the interposed functions share.
//
// Each of them first tries the operation in a way that cannot block. If that succeeds, there was no
// wait and nothing is recorded. Only a result that means "it would block" leads to the real,
// blocking call. The caller cannot tell the difference, since libc's blocking functions begin with
// the same attempt. Where they check something first (a time limit, a clock, a pending
// cancellation), so do we, or we leave the whole call to them.
//
// Any thread, also in signal handlers and before the constructor: until a trace is wanted, each
// function only calls libc's.
#ifndef VPROF_INTERPOSE_H
#define VPROF_INTERPOSE_H

#include <errno.h>
#include <time.h>

#include "base/real.h"
#include "interpose/waiters.h"
#include "preemption/preempted.h"
#include "recording/own_calls.h"        // IWYU pragma: export
#include "recording/trace_lifecycle.h"  // IWYU pragma: export

// Of a function that cancellation may unwind through, so it is not marked nothrow (VPROF_RT_API).
#define VPROF_CANCELLABLE __attribute__((visibility("default")))

// NULL if this libc lacks the function; then only a mistake can call it.
#define VPROF_REAL(name) (vprof_real_functions()->name)

static inline bool vprof_valid_limit(clockid_t clock, const struct timespec* limit) {
  return (clock == CLOCK_REALTIME || clock == CLOCK_MONOTONIC) && limit->tv_nsec >= 0 &&
         limit->tv_nsec < 1000000000;
}

// Errors that a call reports without having waited.
static inline bool vprof_did_not_wait(int error) {
  return error == EDEADLK || error == EINVAL || error == EAGAIN || error == EPERM;
}

// `error`: of the call that may have blocked, an errno value or 0.
static inline void vprof_wait_result(struct vprof_wait* wait, int error) {
  if (vprof_did_not_wait(error)) {
    wait->event = 0;
  }
  if (error == ETIMEDOUT) {
    wait->aux |= VPROF_AUX_TIMED_OUT;
  }
}

// The rest of an interposed function, once the attempt has failed: makes the blocking `call`,
// records the wait and returns the result. `error`: the errno value that `result` stands for.
#define VPROF_BLOCK(kind, object, shared, call, error)                                     \
  VPROF_WAIT wait = vprof_wait_begin(VPROF_EV_WAIT_##kind, (uintptr_t)(object), (shared)); \
  const int result = (call);                                                               \
  vprof_wait_result(&wait, (error));                                                       \
  return result

// A whole function that gives `object` up: looks for waiters before and after (waiters.h).
#define VPROF_RELEASE(kind, object, shared, name)                                   \
  const struct vprof_real* real = vprof_real_functions();                           \
  struct vprof_release release;                                                     \
  vprof_release_begin(&release, VPROF_CLASS_##kind, (uintptr_t)(object), (shared)); \
  const int result = real->name(object);                                            \
  vprof_release_end(&release, VPROF_EV_RELEASE_##kind, result);                     \
  return result

// A whole function that wakes whoever waits for `object` now. A wait that begins later is not ended
// by it, so there is no second look.
#define VPROF_WAKE(kind, object, shared, name, payload)                             \
  const struct vprof_real* real = vprof_real_functions();                           \
  struct vprof_release release;                                                     \
  vprof_release_begin(&release, VPROF_CLASS_##kind, (uintptr_t)(object), (shared)); \
  const int result = real->name(object);                                            \
  vprof_release_write_seen(&release, VPROF_EV_RELEASE_##kind, (payload));           \
  return result

#endif
