// fork: the child starts a trace of its own at its first record.
//
// Between the system call and the child handler below, a signal handler in the child could run instrumented code, and would write to
// the parent's chunk, which the parent goes on using. So from before the fork to after it this thread has no room (`end` is 0) and
// counts as busy: such records are dropped and counted, in both processes. The handlers are registered by our constructor, before
// nearly everybody else's, so they run last before and first after a fork.
//
// The parent's mapping is given up in the child: it is shared, and would keep the file's blocks in use. A child of vfork shares memory
// and thread state with its parent, which waits meanwhile: its records are the parent's.
// A child made by clone() without these handlers is not covered.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "real.h"
#include "trace.h"

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

static void fresh_trace(bool keep_mapping) {
  struct vprof_trace* trace = &vprof_trace;
  const int state = atomic_load(&trace->state);
  if (state == VPROF_OPEN && !keep_mapping) munmap(trace->base, trace->capacity);
  trace->base = NULL;
  trace->header = NULL;
  trace->pid = getpid();
  ++trace->epoch;
  atomic_store(&trace->next, 0);
  atomic_store(&trace->full, false);
  atomic_store(&trace->dropped_early, 0);
  atomic_store(&trace->next_serial, 0);
  atomic_store(&trace->helper_idle, 0);
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) atomic_store(&trace->pool[c][i], NULL);
  }
  if (state != VPROF_OFF && state != VPROF_FAILED) atomic_store(&trace->state, VPROF_READY);
}

// The other threads of the parent do not exist here, so nobody else is in the middle of anything.
static void in_child(void) {
  const int errno_before = errno;
  const uintptr_t busy = vprof_self.busy_before_fork;
  fresh_trace(busy != 0);
  vprof_thread_buffer.cursor = 0;
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
  if (!vprof_active()) return real->_Fork();
  before_fork();
  const pid_t child = real->_Fork();
  if (child == 0) {
    in_child();
  } else {
    in_parent();
  }
  return child;
}

void vprof_fork_init(void) { pthread_atfork(before_fork, in_parent, in_child); }
