// The helper thread: keeps chunks ready with their pages present, writes snapshots of the clocks,
// and drains what the kernel reports about preemption (hooks.h).
//
// Why it is not a pthread. The first record starts it, and that may be written anywhere: in a
// signal handler, inside the program's malloc, in a child of fork before other libraries have
// repaired their locks. pthread_create allocates and locks. Besides, a process whose main thread
// has left by pthread_exit ends with its last pthread, which a helper that never ends would
// prevent. So it is a bare kernel thread made by clone(), with its own stack and thread pointer and
// all signals blocked. It must use nothing thread-local and call nothing that a sanitizer may have
// intercepted: only base/raw_syscall.h and base/clock.c. It ends with the process.
//
// Why it has its own descriptor table. The program may close any descriptor, and should see no
// number taken. The helper's table starts as a copy of the program's; it closes everything in it
// but the trace at once.
#define _GNU_SOURCE
#include "recording/helper.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"
#include "recording/buffer.h"
#include "recording/driver_watch.h"
#include "recording/helper_output.h"
#include "recording/hooks.h"
#include "storage/pool.h"
#include "storage/trace.h"
#include "storage/trace_file.h"

enum { kStackBytes = 65536, kSignalSetBytes = 8, kMostDescriptors = 65536 };
enum { kSecond = 1000000000, kConfinedRound = 2000000 };  // ns

typedef int clone_function(int (*)(void*), void*, int, void*, ...);
static clone_function* real_clone;

static void write_clock(struct vprof_helper_output* out) {
  const struct vprof_clock_reading now = vprof_clock_read();
  const struct vprof_slot slots[3] = {vprof_slot_of(VPROF_EV_CLOCK, now.ticks, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.monotonic_ns, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.realtime_ns, 0)};
  vprof_helper_write(out, slots, 3);
}

// ---- the thread

static void note_processor_time(void) {
  __atomic_store_n(&vprof_trace.header->helper_ns, vprof_thread_processor_ns(), __ATOMIC_RELAXED);
  vprof_trace_file_note_processor_time();
}

static void close_others(int fd) {
  const long first = vprof_syscall(SYS_close_range, 0, fd - 1, 0, 0, 0, 0);
  if (fd > 0 && first == -ENOSYS) {
    for (int other = 0; other < kMostDescriptors; ++other) {
      if (other != fd) {
        vprof_syscall(SYS_close, other, 0, 0, 0, 0, 0);
      }
    }
    return;
  }
  vprof_syscall(SYS_close_range, fd + 1, (long)UINT32_MAX, 0, 0, 0, 0);
}

static void sleep_until(uint64_t time, uint64_t now) {
  const uint64_t wait = time > now ? time - now : 0;
  const struct timespec timeout = {(time_t)(wait / kSecond), (long)(wait % kSecond)};
  vprof_syscall(SYS_futex, (long)&vprof_trace.helper_idle, FUTEX_WAIT_PRIVATE, 1, (long)&timeout, 0,
                0);
}

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static int run(void* descriptor) {
  const int fd = (int)(intptr_t)descriptor;
  struct vprof_trace* trace = &vprof_trace;
  close_others(fd);
  struct vprof_pool pool = vprof_pool_open(fd);
  struct vprof_helper_output out = {NULL, 0, 0, NULL, 0};
  struct vprof_driver_watch watch = vprof_driver_watch_begin();
  vprof_hook_helper_start();
  vprof_syscall(SYS_prctl, PR_SET_NAME, (long)"vprof", 0, 0, 0, 0);
  uint64_t next_clock = vprof_monotonic_ns() + kSecond / 10;
  while (atomic_load(&trace->next) != VPROF_CLOSED) {
    vprof_pool_fill(&pool);
    const uint64_t now = vprof_monotonic_ns();
    uint64_t next = vprof_live() ? vprof_driver_watch_round(&watch, &out, now) : UINT64_MAX;
    const bool finishing = atomic_load(&trace->finishing);
    // Nothing is written while nobody drives.
    if (vprof_driven() || finishing) {
      if (now >= next_clock) {
        write_clock(&out);
        next_clock = now + kSecond;
      }
      note_processor_time();
      next = least(next, next_clock);
      next = least(next, vprof_hook_helper_round(&out, now, finishing));
    } else {
      vprof_hook_helper_rest();
    }
    if (finishing) {
      atomic_store(&trace->finishing, false);
    }
    atomic_store(&trace->helper_idle, 1);
    // Somebody may have asked after the work above, while it still saw the helper awake.
    if (vprof_pool_lacks() || vprof_hook_helper_wanted() || atomic_load(&trace->finishing)) {
      atomic_store(&trace->helper_idle, 0);
      continue;
    }
    sleep_until(vprof_confined() ? least(next, now + kConfinedRound) : next, now);
  }
  return 0;
}

static atomic_int started;  // pid of the process whose helper is running

void vprof_helper_wake(void) {
  if (vprof_confined()) {
    return;  // it looks by itself
  }
  atomic_uint* idle = &vprof_trace.helper_idle;
  if (atomic_exchange(idle, 0) == 0) {
    return;
  }
  vprof_syscall(SYS_futex, (long)idle, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

// Some 50 us; without a system call if a filter may not allow it.
static void wait_a_little(void) {
  enum { kPause = 50000 };
  if (!vprof_confined()) {
    return vprof_pause(kPause);
  }
  const uint64_t end = vprof_ticks() + kPause * vprof_ticks_per_second / kSecond;
  while (vprof_ticks() < end) {
  }
}

void vprof_helper_finish(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load(&started) != trace->pid || !vprof_hook_helper_holds()) {
    return;
  }
  atomic_store(&trace->finishing, true);
  vprof_helper_wake();
  for (uint64_t patience = 400 * vprof_settings.patience;
       atomic_load(&trace->finishing) && patience > 0; --patience) {
    wait_a_little();
  }
}

// Valgrind aborts a program that makes a thread other than libc's. It is recognised by what it
// preloads. Threads then prepare their chunks themselves.
static bool under_valgrind(void) {
  const char* preloaded = getenv("LD_PRELOAD");
  return preloaded != NULL && strstr(preloaded, "/vgpreload_") != NULL;
}

void vprof_helper_init(void) {
  if (under_valgrind()) {
    return;
  }
  *(void**)&real_clone = dlsym(RTLD_NEXT, "clone");
}

// One mapping holds the stack and, above it, the block that the thread pointer points into. Its
// zeros are a valid stack-protector canary.
void vprof_helper_start(int fd) {
  if (real_clone == NULL) {
    return;
  }
  char* memory = mmap(NULL, kStackBytes + 8192, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (memory == MAP_FAILED) {
    return;  // threads prepare their chunks themselves
  }
  char* thread_pointer = memory + kStackBytes + 4096;
#if defined(__x86_64__)
  *(void**)thread_pointer = thread_pointer;
  *(void**)(thread_pointer + 16) = thread_pointer;
#endif
  const uint64_t all = UINT64_MAX;
  uint64_t before = 0;
  vprof_syscall(SYS_rt_sigprocmask, 0 /* SIG_BLOCK */, (long)&all, (long)&before, kSignalSetBytes,
                0, 0);
  const int flags =
      CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
  const int helper =
      real_clone(run, memory + kStackBytes, flags, (void*)(intptr_t)fd, NULL, thread_pointer, NULL);
  vprof_syscall(SYS_rt_sigprocmask, 2 /* SIG_SETMASK */, (long)&before, 0, kSignalSetBytes, 0, 0);
  if (helper < 0) {
    munmap(memory, kStackBytes + 8192);
  } else {
    atomic_store(&started, vprof_trace.pid);
  }
}
