// System calls by number: futex(), as std::atomic::wait and servers with their own locks call it,
// and others that wait.
//
// All other system calls are passed on by a jump, so whatever is special about them is preserved.
// This file must not include <unistd.h>, directly or through base/real.h: that declares syscall()
// with an ellipsis.
#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "interpose/confine.h"
#include "interpose/waiters.h"
#include "system_calls/raw_calls.h"

static bool is_wait(long operation) {
  const long command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_WAIT_REQUEUE_PI;
}

static bool is_wake(long operation) {
  const long command = operation & FUTEX_CMD_MASK;
  return command == FUTEX_WAKE || command == FUTEX_WAKE_BITSET || command == FUTEX_WAKE_OP ||
         command == FUTEX_REQUEUE || command == FUTEX_CMP_REQUEUE;
}

static __attribute__((noinline)) long futex(long word, long operation, long c, long d, long e,
                                            long f) {
  const bool shared = (operation & FUTEX_PRIVATE_FLAG) == 0;
  if (is_wait(operation)) {
    VPROF_WAIT wait = vprof_call_begin(VPROF_EV_WAIT_FUTEX, (uint64_t)word, shared);
    const long result = vprof_real_syscall(SYS_futex, word, operation, c, d, e, f);
    vprof_call_result(&wait, result, ETIMEDOUT);
    return result;
  }
  struct vprof_release release = {0};
  if (is_wake(operation)) {
    vprof_release_begin(&release, VPROF_CLASS_FUTEX, (uint64_t)word, shared);
  }
  const long result = vprof_real_syscall(SYS_futex, word, operation, c, d, e, f);
  if (result > 0) {
    vprof_release_write_seen(&release, VPROF_EV_RELEASE_FUTEX, 0);
  }
  return result;
}

typedef long raw_call(long number, const long* a);

// NULL: it does not wait. Not every processor has the older ones.
static raw_call* waits_as(long number) {
  switch (number) {
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
    case SYS_accept:
    case SYS_accept4:
      return vprof_raw_read;
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
      return vprof_raw_write;
    case SYS_pread64:
    case SYS_preadv:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_fsync:
    case SYS_fdatasync:
      return vprof_raw_file;
#ifdef SYS_poll
    case SYS_poll:
#endif
#ifdef SYS_select
    case SYS_select:
#endif
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_ppoll:
    case SYS_pselect6:
    case SYS_epoll_pwait:
      return vprof_raw_poll;
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
      return vprof_raw_sleep;
    case SYS_wait4:
    case SYS_waitid:
      return vprof_raw_child;
    case SYS_io_uring_enter:
      return vprof_raw_ring;
    default:
      return NULL;
  }
}

__attribute__((visibility("default"))) long syscall(long number, long a, long b, long c, long d,
                                                    long e, long f);
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (__builtin_expect(number == SYS_futex, 0) && vprof_sync_on(VPROF_CLASS_FUTEX)) {
    return futex(a, b, c, d, e, f);
  }
  raw_call* const call = waits_as(number);
  if (__builtin_expect(call != NULL, 0)) {
    const long arguments[6] = {a, b, c, d, e, f};
    return call(number, arguments);
  }
  const long arguments[6] = {a, b, c, d, e, f};
  vprof_confine_begin(number, arguments);
  const long result = vprof_real_syscall(number, a, b, c, d, e, f);
  vprof_confine_end(number, arguments, result);
  return result;
}
