// Signals, and POSIX message queues. The object of a signal is the process that it goes to.
#define _GNU_SOURCE
#include "interpose/interpose.h"
#include "system_calls/streams.h"

#define SIGNALLED(name, ...)                                                        \
  const struct vprof_real* real = vprof_real_functions();                           \
  if (!vprof_sync_on(VPROF_CLASS_SIGNAL)) return real->name(__VA_ARGS__);           \
  VPROF_WAIT wait_of_call = vprof_call_begin(                                       \
      VPROF_EV_WAIT_SIGNAL, vprof_stream_signals((uint64_t)vprof_trace.pid), true); \
  const int result = real->name(__VA_ARGS__);                                       \
  vprof_call_result(&wait_of_call, result, EAGAIN);                                 \
  return result

VPROF_CANCELLABLE int sigsuspend(const sigset_t* mask) { SIGNALLED(sigsuspend, mask); }
VPROF_CANCELLABLE int sigwait(const sigset_t* restrict set, int* restrict signal) {
  SIGNALLED(sigwait, set, signal);
}
VPROF_CANCELLABLE int sigwaitinfo(const sigset_t* restrict set, siginfo_t* restrict info) {
  SIGNALLED(sigwaitinfo, set, info);
}
VPROF_CANCELLABLE int sigtimedwait(const sigset_t* restrict set, siginfo_t* restrict info,
                                   const struct timespec* restrict limit) {
  SIGNALLED(sigtimedwait, set, info, limit);
}
VPROF_CANCELLABLE int pause(void) { SIGNALLED(pause); }

// The release is recorded before the call: the handler of a signal to oneself runs before the call
// returns, and may never return.
static void signal_to(uint64_t pid, int signal) {
  if (signal == 0) {
    return;
  }
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_SIGNAL, vprof_stream_signals(pid), true);
  if (release.waiters == NULL) {
    return;
  }
  // Whoever reads a signalfd is only counted among the readers.
  if (release.time == 0 && atomic_load(vprof_blocked_on_streams()) != 0) {
    vprof_release_take(&release);
  }
  if (release.time != 0) {
    vprof_release_write(&release, VPROF_EV_RELEASE_SIGNAL, 0);
  }
}

VPROF_RT_API int kill(pid_t pid, int signal) {
  if (pid > 0) {
    signal_to((uint64_t)pid, signal);
  }
  return vprof_real_functions()->kill(pid, signal);
}
VPROF_RT_API int sigqueue(pid_t pid, int signal, const union sigval value) {
  if (pid > 0) {
    signal_to((uint64_t)pid, signal);
  }
  return vprof_real_functions()->sigqueue(pid, signal, value);
}
VPROF_RT_API int pthread_kill(pthread_t thread, int signal) {
  signal_to((uint64_t)vprof_trace.pid, signal);
  return vprof_real_functions()->pthread_kill(thread, signal);
}
VPROF_RT_API int tgkill(pid_t pid, pid_t thread, int signal) {
  if (vprof_real_functions()->tgkill == NULL) {
    return errno = ENOSYS, -1;
  }
  if (pid > 0) {
    signal_to((uint64_t)pid, signal);
  }
  return vprof_real_functions()->tgkill(pid, thread, signal);
}

// ---- POSIX message queues, which are files in a file system of their own

#define QUEUE(type, name, ...)                                                     \
  const struct vprof_real* real = vprof_real_functions();                          \
  if (real->name == NULL) return errno = ENOSYS, -1;                               \
  if (!vprof_sync_on(VPROF_CLASS_QUEUE)) return real->name(__VA_ARGS__);           \
  const uint64_t object = vprof_stream_checked((int)queue).in;                     \
  struct vprof_release release;                                                    \
  vprof_release_begin(&release, VPROF_CLASS_QUEUE, object, true);                  \
  type result = 0;                                                                 \
  {                                                                                \
    VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_QUEUE, object, true); \
    result = real->name(__VA_ARGS__);                                              \
    vprof_call_result(&wait_of_call, result, ETIMEDOUT);                           \
  }                                                                                \
  vprof_release_end(&release, VPROF_EV_RELEASE_QUEUE, result >= 0 ? 0 : -1);       \
  return result

VPROF_CANCELLABLE int mq_send(mqd_t queue, const char* from, size_t n, unsigned priority) {
  QUEUE(int, mq_send, queue, from, n, priority);
}
VPROF_CANCELLABLE int mq_timedsend(mqd_t queue, const char* from, size_t n, unsigned priority,
                                   const struct timespec* limit) {
  QUEUE(int, mq_timedsend, queue, from, n, priority, limit);
}
VPROF_CANCELLABLE ssize_t mq_receive(mqd_t queue, char* to, size_t n, unsigned* priority) {
  QUEUE(ssize_t, mq_receive, queue, to, n, priority);
}
VPROF_CANCELLABLE ssize_t mq_timedreceive(mqd_t queue, char* restrict to, size_t n,
                                          unsigned* restrict priority,
                                          const struct timespec* restrict limit) {
  QUEUE(ssize_t, mq_timedreceive, queue, to, n, priority, limit);
}
