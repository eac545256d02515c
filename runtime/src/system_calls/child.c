// Children: who waited for their end, and when they came to it.
//
// A child says when it ends by exit() or _exit(), whether or not anybody waits: its parent may wait
// for any child, and it happens once in each process. A child that is killed says nothing, and its
// parent's wait has no known waker. Nor has a wait for a program that the child has become by exec.
//
// The object is the process id, which the parent learns from the answer.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>

#include "base/raw_syscall.h"
#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"

enum { kLeastUs = 5 };

struct vprof_child_call {
  uint64_t start;
  pid_t child;  // 0: not known
};

static void call_end(struct vprof_child_call* call) {
  const uint64_t now = vprof_ticks();
  const bool waited = now - call->start >= vprof_ticks_per_second / 1000000 * kLeastUs;
  if (waited) {
    const struct vprof_wait wait = {.start = call->start,
                                    .object = (uint64_t)call->child,
                                    .aux = VPROF_AUX_SHARED,
                                    .event = VPROF_EV_WAIT_CHILD};
    vprof_wait_write(&wait, now);
  }
  vprof_wait_over(now - call->start, waited ? VPROF_WAITED_ONCE : VPROF_WAITED_UNRECORDED);
}

#define CALL __attribute__((cleanup(call_end))) struct vprof_child_call

#define CHILD(name, ...)                                                 \
  const struct vprof_real* real = vprof_real_functions();                \
  if (!vprof_sync_on(VPROF_CLASS_CHILD)) return real->name(__VA_ARGS__); \
  CALL call = {vprof_event_time(), 0};                                   \
  const pid_t result = real->name(__VA_ARGS__);                          \
  if (result > 0) call.child = result;                                   \
  return result

VPROF_CANCELLABLE pid_t wait(int* status) { CHILD(wait, status); }
VPROF_CANCELLABLE pid_t waitpid(pid_t child, int* status, int options) {
  CHILD(waitpid, child, status, options);
}
VPROF_CANCELLABLE pid_t wait3(int* status, int options, struct rusage* usage) {
  CHILD(wait3, status, options, usage);
}
VPROF_CANCELLABLE pid_t wait4(pid_t child, int* status, int options, struct rusage* usage) {
  CHILD(wait4, child, status, options, usage);
}
VPROF_CANCELLABLE int waitid(idtype_t type, id_t id, siginfo_t* info, int options) {
  const struct vprof_real* real = vprof_real_functions();
  if (!vprof_sync_on(VPROF_CLASS_CHILD)) {
    return real->waitid(type, id, info, options);
  }
  CALL call = {vprof_event_time(), type == P_PID ? (pid_t)id : 0};
  const int result = real->waitid(type, id, info, options);
  if (result == 0 && info != NULL && info->si_pid > 0) {
    call.child = info->si_pid;
  }
  return result;
}

long vprof_raw_child(long number, const long* a) {
  if (!vprof_sync_on(VPROF_CLASS_CHILD)) {
    return vprof_raw_call(number, a);
  }
  CALL call = {vprof_event_time(), 0};
  const long result = vprof_raw_call(number, a);
  if (number == SYS_wait4 && result > 0) {
    call.child = (pid_t)result;
  }
  const siginfo_t* info = (const siginfo_t*)a[2];
  if (number == SYS_waitid && result == 0 && info != NULL) {
    call.child = info->si_pid;
  }
  return result;
}

// Just before the trace is closed (recording/trace_lifecycle.c).
__attribute__((destructor(102))) static void exits(void) {
  // The first process of a family has no parent that records. A child of vfork shares its parent's
  // memory; its records are the parent's.
  const pid_t pid = vprof_trace.pid;
  const bool ours = vprof_trace.epoch != 0 && atomic_load(&vprof_trace.state) == VPROF_OPEN &&
                    (pid_t)vprof_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0) == pid;
  if (!ours || !vprof_sync_on(VPROF_CLASS_CHILD)) {
    return;
  }
  struct vprof_release release = {vprof_waiters_of((uint64_t)pid), 0, 0, (uint64_t)pid,
                                  VPROF_AUX_SHARED};
  vprof_release_take(&release);
  vprof_release_write(&release, VPROF_EV_RELEASE_CHILD, 0);
}

// These run no destructors.
#define LEAVE(name)                     \
  exits();                              \
  vprof_trace_leave();                  \
  vprof_real_functions()->name(status); \
  __builtin_unreachable()

VPROF_RT_API void _exit(int status) { LEAVE(_exit); }
// NOLINTNEXTLINE(readability-identifier-naming): libc's name
VPROF_RT_API void _Exit(int status) { LEAVE(_Exit); }
