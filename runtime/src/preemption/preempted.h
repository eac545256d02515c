// When a thread could have run and had no processor, as the thread itself finds out.
#ifndef VPROF_PREEMPTED_H
#define VPROF_PREEMPTED_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/own_calls.h"
#include "vprof/runtime/record.h"

// Finds out whether threads can be marked. Constructor only; without it none is.
void vprof_preemption_init(void);

// What is known of a call that may have waited.
enum vprof_waited {
  VPROF_WAITED_UNRECORDED,  // if it has, that was not recorded
  VPROF_WAITED_NEVER,       // it cannot have
  VPROF_WAITED_ONCE,        // it has, and that was recorded
  VPROF_WAITED_OFTEN        // the same; such a call may give the processor up more than once
};

// After such a call, if the thread has lost its processor in it. `took`: ticks; they are not
// counted as preemption if the wait was recorded. Any thread, also in signal handlers; up to two
// system calls.
void vprof_preemption_waited(uint64_t took, enum vprof_waited waited);

// Has this thread been switched away, or interrupted by a signal, since it last asked? One load.
static inline bool vprof_lost_processor(void) { return *vprof_thread_buffer.running == 0; }

// Ends a call that began with vprof_event_time(); arguments as above. Some moves and a branch,
// unless the thread was switched away.
static inline void vprof_wait_over(uint64_t took, enum vprof_waited waited) {
  vprof_count_timed_call();
  if (__builtin_expect(vprof_lost_processor(), 0)) {
    vprof_preemption_waited(took, waited);
  }
}

#endif
