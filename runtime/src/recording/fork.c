// fork: the child starts a trace of its own at its first record.
//
// Between the system call and the child handler below, a signal handler in the child could run
// instrumented code, and would write to the parent's chunk, which the parent goes on using. So from
// before the fork to after it this thread has no room (`end` is 0) and counts as busy: such records
// are dropped and counted, in both processes. The handlers are registered by our constructor,
// before nearly everybody else's, so they run last before and first after a fork.
//
// A child of vfork shares memory
// and thread state with its parent, which waits meanwhile: its records are the parent's.
//
// Handlers of others that were registered before ours do run before it in the child, and may start
// threads there (ThreadSanitizer's does). Their first record comes to the slow path, which looks at
// a page that the kernel clears in a child of fork, but not of vfork (MADV_WIPEONFORK). So whoever
// comes first makes the trace of the process a fresh one. This also catches children of clone()
// that no handler sees, once their chunk is full; until then they write to their parent's, which is
// all that is not covered.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "recording/raw_syscall.h"
#include "recording/real.h"
#include "recording/trace.h"

static void fence(void) { atomic_signal_fence(memory_order_seq_cst); }

static void before_fork(void) {
  struct vprof_thread* self = &vprof_self;
  self->end_before_fork = vprof_thread_buffer.end;
  self->busy_before_fork = self->busy;
  fence();
  vprof_thread_buffer.end = 0;
  fence();
  self->busy = UINTPTR_MAX;  // deeper than any frame
  fence();
}

static void in_parent(void) {
  struct vprof_thread* self = &vprof_self;
  fence();
  self->busy = self->busy_before_fork;
  fence();
  vprof_thread_buffer.end = self->end_before_fork;
}

enum { kForked, kFresh, kInWork };
static atomic_int*
    noticed;  // kFresh; kForked in a child until somebody notices. NULL: the kernel cannot tell

// The old mapping stays until this process makes a file, by when nobody can be in the middle of
// using it.
static void fresh_trace(void) {
  struct vprof_trace* trace = &vprof_trace;
  const int state = atomic_load(&trace->state);
  if (state != VPROF_OFF && state != VPROF_FAILED) {
    atomic_store(&trace->state, VPROF_READY);
  }
  trace->pid = getpid();
  ++trace->epoch;
  atomic_store(&trace->next, 0);
  atomic_store(&trace->full, false);
  atomic_store(&trace->dropped_early, 0);
  atomic_store(&trace->next_serial, 0);
  atomic_store(&trace->helper_idle, 0);
  trace->extended = 0;
  atomic_store(&trace->extending, false);
  atomic_store(&trace->slow_until, 0);
  atomic_store(&trace->finishing, false);
  vprof_switches_forget();
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    atomic_store(&trace->used[i], NULL);
  }
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
      atomic_store(&trace->pool[c][i], NULL);
    }
  }
}

void vprof_notice_fork(void) {
  if (noticed == NULL) {
    return;
  }
  int found = kForked;
  if (atomic_compare_exchange_strong(noticed, &found, kInWork)) {
    fresh_trace();
    atomic_store(noticed, kFresh);
  }
  // Another thread does it: not one that this one interrupts, since that would be busy.
  while (atomic_load(noticed) == kInWork) {
    const struct timespec pause = {0, 1000};
    vprof_syscall(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
  }
}

// The other threads of the parent do not exist here, so nobody else is in the middle of anything.
static void in_child(void) {
  const int errno_before = errno;
  const uintptr_t busy = vprof_self.busy_before_fork;
  if (noticed != NULL) {
    vprof_notice_fork();
  } else {
    fresh_trace();
  }
  vprof_thread_buffer.cursor = 0;
  vprof_thread_buffer.running = &vprof_unwatched;
  memset(&vprof_self, 0, sizeof vprof_self);
  fence();
  vprof_self.busy = busy;
  errno = errno_before;
}

// glibc's fork without the handlers, made for signal handlers.
VPROF_RT_API pid_t _Fork(void);
pid_t _Fork(void) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->_Fork == NULL) {
    errno = ENOSYS;
    return -1;
  }
  if (!vprof_active()) {
    return real->_Fork();
  }
  before_fork();
  const pid_t child = real->_Fork();
  if (child == 0) {
    in_child();
  } else {
    in_parent();
  }
  return child;
}

void vprof_fork_init(void) {
  void* page =
      mmap(NULL, VPROF_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED && madvise(page, VPROF_PAGE_BYTES, MADV_WIPEONFORK) == 0) {
    noticed = page;
    atomic_store(noticed, kFresh);
  }
  pthread_atfork(before_fork, in_parent, in_child);
}
