// What a thread has besides its buffer (vprof_thread_buffer in record.h).
//
// One struct for all rooms: fork resets it as a whole, and it occupies one block of static TLS.
#ifndef VPROF_THREAD_H
#define VPROF_THREAD_H

#include <stddef.h>
#include <stdint.h>

#include "vprof/runtime/coroutine.h"
#include "vprof/runtime/trace_format.h"

// An open VPROF_INTERVAL of this thread.
struct vprof_activation {
  uintptr_t frame;
  const void* scope;
  unsigned def;
};
enum { VPROF_ACTIVATIONS = 8 };

// The open interval of a definition that is identified by its thread.
struct vprof_own {
  uint64_t id;  // 0: none
  unsigned def;
};
enum { VPROF_OWN_INTERVALS = 8 };

// A coroutine that this thread was running when it came to a co_await. By now another thread may
// run it, or it may be gone: the address only identifies it.
struct vprof_awaiting {
  const struct vprof_coroutine* coroutine;  // NULL: none
  uint64_t work_id;
  uint64_t work_flags;
  uintptr_t frame;           // an address in the stack frame of the co_await
  const unsigned* expected;  // functions, ends with 0
  uint64_t begun;            // a bit for each of these that has begun
  uint64_t polled;           // vprof_self.polled and waits at that time
  uint32_t waits;
  unsigned suspension;
  int awaits;
  unsigned interval;
  struct vprof_callers callers;  // with the coroutine itself
};
// A coroutine and one that it began while its co_await was evaluated.
enum { VPROF_AWAITING = 2 };

// What a thread knew when it last asked how much processor time it has had
// (preemption/preempted.c).
struct vprof_preemption {
  uint64_t* mark;  // the kernel clears it; NULL: this thread is not watched
  uint64_t ticks;
  uint64_t processor_ns;
  uint64_t waited;   // ticks spent in recorded waits since then
  uint32_t unasked;  // the number of those waits
  uint32_t wait_ns;  // processor time that one of them takes, a running mean
  uint32_t learnt;   // from how many samples, up to a limit
  // Counted by the kernel when it was last asked: switches because the thread waited, and switches
  // although it could run.
  uint64_t gave_up;
  uint64_t lost;
  uint64_t waits;          // since then: recorded waits in which it was switched away
  uint64_t lost_in_calls;  // since then: calls that cannot wait in which it was switched away
  uint64_t gaps;           // vprof_gaps() then
  uint32_t alarms;         // in a row: the mark was cleared and no time was lost
  uint64_t first_alarm;    // ticks
};

// Zero in a new thread; fork resets it in the child.
struct vprof_thread {
  uintptr_t busy;   // frame address of the slow path this thread is in; 0: none
  uintptr_t chunk;  // address of the current chunk
  // Ring: the chunks this thread keeps, a list from the oldest to the newest, and their bytes.
  struct vprof_chunk_header* oldest;
  struct vprof_chunk_header* newest;
  uint64_t kept;
  uint64_t cursor_before_fork;
  uintptr_t busy_before_fork;
  uint64_t dropped;   // slots, since the last EV_DROPPED
  uint64_t retry_at;  // ticks: no chunk was available, so none is asked for until then
  uint64_t gaps;      // vprof_gaps() when it last began, resumed or ended an interval
  uint64_t work_id;   // the interval this thread works for
  uint64_t work_flags;
  uint64_t polled;      // ticks: when its poll, select or epoll_wait returned last; 0: never
  uint64_t begun;       // since then: how many intervals it began or resumed; and a flag
  uint64_t ready;       // how many descriptors that found
  uint64_t begun_last;  // the id of the last of those intervals; 0: none yet
  uint32_t serial;
  uint32_t chunks;  // taken so far
  uint32_t tid;
  uint32_t waits;        // recorded so far
  uint32_t mutex_owner;  // the tid, once interpose/mutex.c needs it; 0: not yet
  uint32_t activations;
  // The mutex that this thread holds since a condition wait returned, and that condition; 0: none.
  uintptr_t returned_with;
  uintptr_t returned_from;
  struct vprof_coroutine* coroutine;               // the innermost one that it runs
  struct vprof_awaiting awaiting[VPROF_AWAITING];  // the latest first
  struct vprof_preemption preemption;
  struct vprof_activation activation[VPROF_ACTIVATIONS];
  struct vprof_own own[VPROF_OWN_INTERVALS];
};

// Initial-exec, so reaching it never allocates: safe in signal handlers and before the constructor.
extern __thread struct vprof_thread vprof_self __attribute__((tls_model("initial-exec")));

#endif
