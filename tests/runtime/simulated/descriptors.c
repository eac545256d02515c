// streams.c with descriptors whose flags the test sets.
//
// The source is compiled unchanged; only its system calls come from this file.
#define _GNU_SOURCE
#define VPROF_RAW_SYSCALL_H  // instead of base/raw_syscall.h

#include "descriptors.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

struct simulated_descriptor simulated_descriptor;

static long vprof_syscall(long number, long a, long b, long c, long d, long e, long f) {
  (void)a, (void)b, (void)c, (void)d, (void)f;
  if (number == SYS_fcntl) {
    ++simulated_descriptor.asked;
    return simulated_descriptor.blocks ? O_RDWR : O_RDWR | O_NONBLOCK;
  }
  if (number == SYS_statx) {
    ((struct statx*)e)->stx_mode = S_IFIFO;
  }
  return 0;
}

#include "system_calls/streams.c"  // NOLINT(bugprone-suspicious-include)

struct vprof_settings vprof_settings;
__thread struct vprof_thread vprof_self __attribute__((tls_model("initial-exec")));

bool simulated_never_blocks(int fd, bool is_short) {
  return vprof_stream_never_blocks(fd, is_short);
}
void simulated_flags_change(int fd) { vprof_stream_flags_change(fd); }
void simulated_reopen(int fd) {
  vprof_stream_of(fd);
  vprof_stream_forget(fd);
}
void simulated_confine(bool confined) { vprof_settings.confined = confined; }
