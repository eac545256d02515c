// chroot, pivot_root, seccomp, landlock: the trace directory is out of reach afterwards, or whoever
// opens a file is ended. The file of a process is made at its first record, which may come later.
//
// A new root: a descriptor of the trace directory is kept from then on, so that this process and
// its children can make their files. Not earlier: a program that becomes a daemon closes all
// descriptors first, and no other program should find one that is not its own.
//
// A filter of system calls: the file is made before, with chunks in stock. After it the runtime
// makes no system call in the program's threads that it can do without (vprof_confined()). Children
// under the filter record nothing. With SECCOMP_FILTER_FLAG_TSYNC the filter also applies to the
// helper thread (docs/limits.md).
#define _GNU_SOURCE
#include "interpose/confine.h"

#include <linux/prctl.h>  // not sys/prctl.h, whose prctl() is variadic
#include <linux/seccomp.h>
#include <stdbool.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "interpose/interpose.h"
#include "recording/buffer.h"
#include "recording/helper.h"
#include "storage/pool.h"
#include "storage/trace.h"
#include "storage/trace_file.h"

#ifndef SYS_landlock_restrict_self
#define SYS_landlock_restrict_self 446
#endif

static bool changes_root(long number) { return number == SYS_chroot || number == SYS_pivot_root; }

static bool filters(long number, const long* a) {
  return (number == SYS_seccomp &&
          (a[0] == SECCOMP_SET_MODE_STRICT || a[0] == SECCOMP_SET_MODE_FILTER)) ||
         (number == SYS_prctl && a[0] == PR_SET_SECCOMP);
}

// Threads cannot prepare chunks under a filter. Some 20 ms at most.
static void stock_up(void) {
  enum { kPause = 50000 };  // ns
  vprof_pool_stock_up();
  vprof_helper_wake();
  for (uint64_t patience = 400 * vprof_settings.patience; vprof_pool_lacks() && patience > 0;
       --patience) {
    vprof_pause(kPause);
  }
}

void vprof_confine_begin(long number, const long* a) {
  if (!vprof_wanted()) {
    return;
  }
  const int errno_before = errno;
  if (changes_root(number)) {
    vprof_trace_file_keep_directory();
  } else if ((filters(number, a) || number == SYS_landlock_restrict_self) && vprof_driven()) {
    // Any record makes the file and this thread's first chunk. This one says that the runtime was
    // at work, for no time: what it took is recorded by itself.
    const struct vprof_slot slot = vprof_slot_of(VPROF_EV_SETUP, vprof_ticks(), 0);
    vprof_write(&slot, 1);
    stock_up();
  }
  errno = errno_before;
}

void vprof_confine_end(long number, const long* a, long result) {
  if (result < 0 || !vprof_wanted() || !filters(number, a)) {
    return;
  }
  atomic_store(&vprof_settings.confined, true);
  // While nobody drives a live run no file is made, and now none can be.
  int state = VPROF_READY;
  atomic_compare_exchange_strong(&vprof_trace.state, &state, VPROF_FAILED);
}

VPROF_RT_API int chroot(const char* path) {
  const long arguments[6] = {(long)path};
  vprof_confine_begin(SYS_chroot, arguments);
  return vprof_real_functions()->chroot(path);
}

VPROF_RT_API int prctl(int option, unsigned long b, unsigned long c, unsigned long d,
                       unsigned long e);
int prctl(int option, unsigned long b, unsigned long c, unsigned long d, unsigned long e) {
  const long arguments[6] = {option, (long)b, (long)c, (long)d, (long)e, 0};
  vprof_confine_begin(SYS_prctl, arguments);
  const int result = vprof_real_functions()->prctl(option, b, c, d, e);
  vprof_confine_end(SYS_prctl, arguments, result);
  return result;
}
