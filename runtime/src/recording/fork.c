// fork: the child starts its own trace at its first record.
//
// Problem. Between the system call and the child handler below, a signal handler in the child could
// run instrumented code. It would write to the parent's chunk, which the parent goes on using. So
// from before the fork until after it, this thread has no room (its cursor says so) and counts as
// busy: such records are dropped and counted, in both processes. Our constructor registers the
// handlers before almost everybody else's, so they run last before a fork and first after it.
//
// A child of vfork shares memory and thread state with its parent, which waits meanwhile. Its
// records are the parent's.
//
// Handlers that others registered before ours do run earlier in the child, and may start threads
// there (ThreadSanitizer's does). The first record of such a thread takes the slow path, which
// looks at a page that the kernel clears in a child of fork but not of vfork (MADV_WIPEONFORK). So
// whoever comes first makes the trace of the process a fresh one. This also catches children of
// clone() that no handler sees, once their chunk is full. Until then they write to their parent's
// chunk; that is the only case that is not covered.
#define _GNU_SOURCE
#include "recording/fork.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/real.h"
#include "recording/buffer.h"
#include "recording/hooks.h"
#include "storage/module_tables.h"
#include "storage/sites.h"
#include "storage/trace.h"

static void fence(void) { atomic_signal_fence(memory_order_seq_cst); }

static void before_fork(void) {
  struct vprof_thread* self = &vprof_self;
  self->busy_before_fork = self->busy;
  fence();
  self->busy = UINTPTR_MAX;  // deeper than any frame
  fence();
  // At once: a handler between a look and a store would take slots that are handed out again later.
  self->cursor_before_fork =
      __atomic_exchange_n(&vprof_thread_buffer.cursor, VPROF_RT_NO_ROOM, __ATOMIC_RELAXED);
  fence();
}

static void in_parent(void) {
  struct vprof_thread* self = &vprof_self;
  fence();
  vprof_thread_buffer.cursor = self->cursor_before_fork;
  fence();
  self->busy = self->busy_before_fork;
}

enum { kForked, kFresh, kInWork };
// kForked, which is 0, in a child until somebody notices; kFresh elsewhere. NULL: this kernel has
// no MADV_WIPEONFORK.
static atomic_int* noticed;

// The old mapping stays until this process makes a file; by then nobody can still be using it.
static void fresh_trace(void) {
  struct vprof_trace* trace = &vprof_trace;
  const int state = atomic_load(&trace->state);
  const bool confined = vprof_confined();
  if (state != VPROF_OFF && state != VPROF_FAILED) {
    // A filter may end whoever opens a file.
    atomic_store(&trace->state, confined ? VPROF_FAILED : VPROF_READY);
  }
  if (confined && !vprof_live()) {
    vprof_sites_give_up();
  } else if (!confined) {
    trace->pid = getpid();
  }
  ++trace->epoch;
  atomic_store(&trace->next, 0);
  atomic_store(&trace->full, false);
  atomic_store(&trace->dropped_early, 0);
  atomic_store(&trace->next_serial, 0);
  atomic_store(&trace->filled, 0);
  atomic_store(&trace->helper_idle, 0);
  trace->extended = 0;
  atomic_store(&trace->extending, false);
  atomic_store(&trace->slow_until, 0);
  atomic_store(&trace->finishing, false);
  vprof_module_tables_forked();
  vprof_hook_forked();
  for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
    atomic_store(&trace->used[i], NULL);
  }
  atomic_store(&trace->orphans, NULL);
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
  // Another thread is doing it. It cannot be one that this code interrupts: that would be busy, and
  // this would not have come here.
  while (atomic_load(noticed) == kInWork) {
    vprof_pause(1000);
  }
}

// The parent's other threads do not exist here, so nothing is half done.
static void in_child(void) {
  const int errno_before = errno;
  const uintptr_t busy = vprof_self.busy_before_fork;
  if (noticed != NULL) {
    vprof_notice_fork();
  } else {
    fresh_trace();
  }
  vprof_thread_buffer.cursor = VPROF_RT_NO_ROOM;
  vprof_thread_buffer.running = &vprof_unwatched;
  memset(&vprof_self, 0, sizeof vprof_self);
  fence();
  vprof_self.busy = busy;
  errno = errno_before;
}

// In a child of a process without a trace.
static void forget_thread_id(void) { vprof_self.tid = vprof_self.mutex_owner = 0; }

// glibc's fork without the handlers, for use in signal handlers.
VPROF_RT_API pid_t _Fork(void);
pid_t _Fork(void) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->_Fork == NULL) {
    errno = ENOSYS;
    return -1;
  }
  if (!vprof_wanted()) {
    const pid_t child = real->_Fork();
    if (child == 0) {
      forget_thread_id();
    }
    return child;
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

void vprof_fork_init(bool wanted) {
  if (!wanted) {
    pthread_atfork(NULL, NULL, forget_thread_id);
    return;
  }
  void* page =
      mmap(NULL, VPROF_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page != MAP_FAILED && madvise(page, VPROF_PAGE_BYTES, MADV_WIPEONFORK) == 0) {
    noticed = page;
    atomic_store(noticed, kFresh);
  }
  pthread_atfork(before_fork, in_parent, in_child);
}
