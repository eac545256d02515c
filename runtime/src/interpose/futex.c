// futex() by way of syscall(), as std::atomic::wait and servers with their own locks call it.
//
// All other system calls are passed on by a jump, so whatever is special about them is preserved.
// This file must not include <unistd.h>, directly or through base/real.h: that declares syscall()
// with an ellipsis.
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "interpose/waiters.h"

// base/real.c
long vprof_real_syscall(long number, long a, long b, long c, long d, long e, long f);

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
    return vprof_real_syscall(SYS_futex, word, operation, c, d, e, f);
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

__attribute__((visibility("default"))) long syscall(long number, long a, long b, long c, long d,
                                                    long e, long f);
long syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (__builtin_expect(number == SYS_futex, 0) && vprof_sync_on(VPROF_CLASS_FUTEX)) {
    return futex(a, b, c, d, e, f);
  }
  return vprof_real_syscall(number, a, b, c, d, e, f);
}
