// When a thread could have run and had no processor, as the thread itself finds out.
#ifndef VPROF_PREEMPTED_H
#define VPROF_PREEMPTED_H

#include <stdbool.h>
#include <stdint.h>

#include "recording/own_calls.h"
#include "vprof/runtime/record.h"

// Finds out whether threads can be marked. Constructor only; without it none is.
void vprof_preemption_init(void);

// After a call that may have waited, if the thread has lost its processor in it. `took`: ticks;
// they are not counted as preemption if the wait was recorded. `several`: such a call may give the
// processor up more than once. Any thread, also in signal handlers; up to two system calls.
void vprof_preemption_waited(uint64_t took, bool recorded, bool several);

// Has this thread been switched away, or interrupted by a signal, since it last asked? One load.
static inline bool vprof_lost_processor(void) { return *vprof_thread_buffer.running == 0; }

// Ends a call that began with vprof_event_time(); arguments as above. Some moves and a branch,
// unless the thread was switched away.
static inline void vprof_wait_over(uint64_t took, bool recorded, bool several) {
  vprof_count_timed_call();
  if (__builtin_expect(vprof_lost_processor(), 0)) {
    vprof_preemption_waited(took, recorded, several);
  }
}

#endif
