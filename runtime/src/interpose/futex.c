// The futex call, as std::atomic::wait and servers with locks of their own make it, by way of syscall().
//
// All other calls are handed on by a jump: whatever is special about them stays. <unistd.h> would declare syscall() with an ellipsis.
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "interpose/waiters.h"

// of real.h, which includes <unistd.h>
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
  if (release.waiters != NULL && release.time != 0 && result > 0) {
    vprof_release_write(&release, VPROF_EV_RELEASE_FUTEX, 0);
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
