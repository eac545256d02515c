// Descriptors that come and go: keeps the table of streams.h up to date.
#define _GNU_SOURCE
#include <sys/signalfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "system_calls/file_locks.h"
#include "system_calls/streams.h"

VPROF_CANCELLABLE int close(int fd) {
  struct vprof_release release = {0};
  vprof_close_begin(&release, fd);
  vprof_stream_forget(fd);
  vprof_room_forget(fd);
  const int result = vprof_real_functions()->close(fd);
  vprof_release_end(&release, VPROF_EV_RELEASE_FILE_LOCK, result);
  return result;
}
VPROF_RT_API int dup2(int from, int to) {
  if (from != to) {
    vprof_stream_forget(to);
    vprof_room_forget(to);
  }
  return vprof_real_functions()->dup2(from, to);
}
VPROF_RT_API int dup3(int from, int to, int flags) {
  if (from != to) {
    vprof_stream_forget(to);
    vprof_room_forget(to);
  }
  return vprof_real_functions()->dup3(from, to, flags);
}

VPROF_RT_API int signalfd(int fd, const sigset_t* mask, int flags) {
  const int result = vprof_real_functions()->signalfd(fd, mask, flags);
  const struct vprof_stream stream = {vprof_stream_signals((uint64_t)vprof_trace.pid), 0,
                                      VPROF_STREAM_SIGNAL, 1, 0};
  if (result >= 0 && vprof_wanted()) {
    vprof_stream_set(result, stream);
  }
  return result;
}
VPROF_RT_API int timerfd_create(int clock, int flags) {
  const int result = vprof_real_functions()->timerfd_create(clock, flags);
  const struct vprof_stream stream = {0, 0, VPROF_STREAM_TIMER, 0, 0};
  if (result >= 0 && vprof_wanted()) {
    vprof_stream_set(result, stream);
  }
  return result;
}
VPROF_RT_API int socketpair(int domain, int type, int protocol, int fds[2]) {
  const int result = vprof_real_functions()->socketpair(domain, type, protocol, fds);
  if (result != 0 || !vprof_wanted()) {
    return result;
  }
  vprof_stream_forget(fds[0]);
  vprof_stream_forget(fds[1]);
  struct vprof_stream first = vprof_stream_of(fds[0]);
  struct vprof_stream second = vprof_stream_of(fds[1]);
  first.out = second.in;
  second.out = first.in;
  vprof_stream_set(fds[0], first);
  vprof_stream_set(fds[1], second);
  return result;
}
