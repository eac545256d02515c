// Spin locks, barriers and one-time initialisation.
#define _GNU_SOURCE
#include "interpose/interpose.h"

// Without a wait: recorded if others wait.
static int got(pthread_spinlock_t* lock) {
  vprof_acquired(VPROF_CLASS_SPIN, VPROF_EV_ACQUIRE_SPIN, 0, (uintptr_t)lock, false);
  return 0;
}

VPROF_RT_API int pthread_spin_lock(pthread_spinlock_t* lock) {
  const struct vprof_real* real = vprof_real_functions();
  if (!vprof_sync_on(VPROF_CLASS_SPIN)) {
    return real->pthread_spin_lock(lock);
  }
  const int tried = real->pthread_spin_trylock(lock);
  if (tried != EBUSY) {
    return tried == 0 ? got(lock) : tried;
  }
  VPROF_WAIT wait = vprof_wait_begin(VPROF_EV_WAIT_SPIN, (uintptr_t)lock, false);
  return real->pthread_spin_lock(lock);
}

VPROF_RT_API int pthread_spin_trylock(pthread_spinlock_t* lock) {
  const int tried = VPROF_REAL(pthread_spin_trylock)(lock);
  return tried == 0 ? got(lock) : tried;
}

VPROF_RT_API int pthread_spin_unlock(pthread_spinlock_t* lock) {
  VPROF_RELEASE(SPIN, lock, false, pthread_spin_unlock);
}

// Each arrival is a release, if others wait. The newest one that a wait has seen is that of the
// thread that arrived last and let the others go. libc tells that thread so, and it has not waited.
VPROF_RT_API int pthread_barrier_wait(pthread_barrier_t* barrier) {
  const struct vprof_real* real = vprof_real_functions();
  if (!vprof_sync_on(VPROF_CLASS_BARRIER)) {
    return real->pthread_barrier_wait(barrier);
  }
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_BARRIER, (uintptr_t)barrier, false);
  vprof_release_write_seen(&release, VPROF_EV_RELEASE_BARRIER, 0);
  VPROF_WAIT wait = vprof_wait_begin(VPROF_EV_WAIT_BARRIER, (uintptr_t)barrier, false);
  const int result = real->pthread_barrier_wait(barrier);
  if (result == PTHREAD_BARRIER_SERIAL_THREAD || vprof_did_not_wait(result)) {
    wait.event = 0;
  }
  return result;
}

// ---- once

enum { kIdle = 0, kDone = 2 };  // a control word of glibc

// The initialisation that this thread is about to run. libc wakes the waiters before it returns to
// us, so the routine is wrapped.
struct vprof_once {
  void (*routine)(void);
  uintptr_t object;
};
static __thread struct vprof_once current __attribute__((tls_model("initial-exec")));

static void run_once(void) {
  // A copy: the routine may call pthread_once() for another control.
  const struct vprof_once mine = current;
  mine.routine();
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_ONCE, mine.object, false);
  vprof_release_write_seen(&release, VPROF_EV_RELEASE_ONCE, 0);
}

static bool is_done(const void* control) {
#ifdef __GLIBC__
  return __atomic_load_n((const int*)control, __ATOMIC_ACQUIRE) == kDone;
#else
  return (void)control, false;
#endif
}

// The routine is wrapped in a pause, too, since it may end in the next recording.
#define ONCE(control, call)                                                                \
  const bool idle = __atomic_load_n((const int*)(control), __ATOMIC_RELAXED) == kIdle;     \
  const struct vprof_once outer = current;                                                 \
  current = (struct vprof_once){routine, (uintptr_t)(control)};                            \
  if (idle || !vprof_sync_on(VPROF_CLASS_ONCE)) { /* if it is idle, this thread runs it */ \
    call;                                                                                  \
  } else {                                                                                 \
    VPROF_WAIT wait = vprof_call_begin(VPROF_EV_WAIT_ONCE, (uintptr_t)(control), false);   \
    call;                                                                                  \
  }                                                                                        \
  current = outer

VPROF_CANCELLABLE int pthread_once(pthread_once_t* control, void (*routine)(void)) {
  const struct vprof_real* real = vprof_real_functions();
  if (is_done(control) || !vprof_sync_wanted(VPROF_CLASS_ONCE)) {
    return real->pthread_once(control, routine);
  }
  int result = 0;
  ONCE(control, result = real->pthread_once(control, run_once));
  return result;
}

VPROF_CANCELLABLE void call_once(once_flag* flag, void (*routine)(void)) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->call_once == NULL) {
    return;
  }
  if (is_done(flag) || !vprof_sync_wanted(VPROF_CLASS_ONCE)) {
    real->call_once(flag, routine);
    return;
  }
  ONCE(flag, real->call_once(flag, run_once));
}
