// The helper thread: keeps chunks ready, with their pages present, and writes snapshots of the clocks and what the kernel tells of
// preemption (switches.c).
//
// Why it is no pthread. It is started by the first record, which may be written anywhere: in a signal handler, inside the program's own
// malloc, in a child of fork before other libraries have repaired their locks. pthread_create allocates and locks. And a process whose
// main thread has left by pthread_exit ends when its last pthread does, which a helper that never ends would prevent. So it is a bare
// kernel thread made by clone(), with a stack and a thread pointer of its own, all signals blocked. It must not use anything
// thread-local, nor call what a sanitizer may have intercepted: hence only raw_syscall.h and clock.c. It ends with the process.
//
// It has a table of descriptors of its own: that of the program is copied when it is made, and all but the trace's file is closed in the copy
// at once. So the program may close what it likes and sees no number taken.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

enum { kStackBytes = 65536, kSignalSetBytes = 8, kMostDescriptors = 65536 };
enum { kSecond = 1000000000 };  // ns

typedef int clone_function(int (*)(void*), void*, int, void*, ...);
static clone_function* real_clone;

// ---- its own chunk

// Small ones first: most processes have a few snapshots of the clocks to write and nothing else.
static bool next_chunk(struct vprof_helper_output* out) {
  enum { kSmall = 4 };
  struct vprof_chunk_header* chunk =
      vprof_chunk_prepare(vprof_chunk_bytes[out->chunks < kSmall ? 0 : 1]);
  if (chunk == NULL) {
    return false;
  }
  chunk->index = out->chunks++;
  chunk->tid = (uint32_t)vprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
  memcpy(chunk->thread_name, "vprof", 6);
  out->chunk = chunk;
  out->slots = 0;
  return true;
}

bool vprof_helper_write(struct vprof_helper_output* out, const struct vprof_slot* slots,
                        unsigned count) {
  const struct vprof_chunk_header* chunk = out->chunk;
  const bool room =
      chunk != NULL && sizeof *chunk + (out->slots + count) * sizeof *slots <= chunk->bytes;
  if (!room && !next_chunk(out)) {
    return false;
  }
  const uintptr_t at = (uintptr_t)(out->chunk + 1) + out->slots * sizeof *slots;
  for (unsigned i = count; i-- > 0;) {
    vprof_store_slot(at + i * sizeof *slots, slots[i].word0, slots[i].word1);
  }
  out->slots += count;
  return true;
}

static void write_clock(struct vprof_helper_output* out) {
  const struct vprof_clock_reading now = vprof_clock_read();
  const struct vprof_slot slots[3] = {vprof_slot_of(VPROF_EV_CLOCK, now.ticks, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.monotonic_ns, 0),
                                      vprof_slot_of(VPROF_EV_CONT, now.realtime_ns, 0)};
  vprof_helper_write(out, slots, 3);
}

// ---- the thread

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

static int run(void* descriptor) {
  const int fd = (int)(intptr_t)descriptor;
  struct vprof_trace* trace = &vprof_trace;
  close_others(fd);
  struct vprof_pool pool = {fd, vprof_archive_possible(fd), 0, 0, 0, 0};
  struct vprof_helper_output out = {NULL, 0, 0};
  struct vprof_switches switches;
  vprof_switches_start(&switches);
  vprof_syscall(SYS_prctl, PR_SET_NAME, (long)"vprof", 0, 0, 0, 0);
  uint64_t next_clock = vprof_monotonic_ns() + kSecond / 10;
  while (atomic_load(&trace->next) != VPROF_CLOSED) {
    vprof_pool_fill(&pool);
    const uint64_t now = vprof_monotonic_ns();
    if (now >= next_clock) {
      write_clock(&out);
      next_clock = now + kSecond;
    }
    const bool finishing = atomic_load(&trace->finishing);
    if (finishing) {
      switches.next = 0;
    }
    const uint64_t next_drain = vprof_switches_drain(&switches, &out, now);
    if (finishing) {
      atomic_store(&trace->finishing, false);
    }
    atomic_store(&trace->helper_idle, 1);
    // Somebody wanted something after we looked, and saw us awake.
    if (vprof_pool_lacks() || vprof_switches_asked() || atomic_load(&trace->finishing)) {
      atomic_store(&trace->helper_idle, 0);
      continue;
    }
    sleep_until(next_drain < next_clock ? next_drain : next_clock, now);
  }
  return 0;
}

static atomic_int started;  // pid of the process whose helper has been made

void vprof_helper_wake(void) {
  atomic_uint* idle = &vprof_trace.helper_idle;
  if (atomic_exchange(idle, 0) == 0) {
    return;
  }
  vprof_syscall(SYS_futex, (long)idle, FUTEX_WAKE_PRIVATE, 1, 0, 0, 0);
}

void vprof_helper_finish(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load(&started) != trace->pid) {
    return;
  }
  atomic_store(&trace->finishing, true);
  vprof_helper_wake();
  for (uint64_t patience = 400 * vprof_settings.patience; atomic_load(&trace->finishing) && patience > 0; --patience) {
    const struct timespec pause = {0, 50000};
    vprof_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
  }
}

// Valgrind ends a program that makes a thread of any kind but libc's. It is known by what it preloads. Threads then prepare their chunks themselves.
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

// One mapping: stack, and above it the block that the thread pointer points into. Zeros are a valid stack-protector canary.
void vprof_helper_start(int fd) {
  vprof_pool_start();
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
