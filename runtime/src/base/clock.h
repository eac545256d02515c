// Time in ticks: the processor's counter where it is a clock, CLOCK_MONOTONIC elsewhere.
#ifndef VPROF_CLOCK_H
#define VPROF_CLOCK_H

#include <stdint.h>

#include "vprof/runtime/record.h"
#include "vprof/runtime/trace_format.h"

// Which clock ticks are read from, enum vprof_clock. Constant after the constructor.
extern int vprof_clock_kind;

// First estimate, good to about 1 in 10^5. Constant once a trace is open.
extern uint64_t vprof_ticks_per_second;

// What vprof_buffer.running points to in a thread that nothing marks as switched away. Not 0, so
// that the hot path sees a running thread; 0 if the counter is no clock, which sends every reading
// of the time through vprof_rt_resumed() and so to vprof_rt_ticks().
extern uint64_t vprof_unwatched;

// Chooses the clock. Constructor only.
void vprof_clock_init(void);

// Sets vprof_ticks_per_second; spins for 1 ms at most. Called by the one thread that starts a
// trace.
void vprof_clock_calibrate(void);

// All three clocks at one moment, to within some 20 ns. Any thread, the helper included.
struct vprof_clock_reading {
  uint64_t ticks, monotonic_ns, realtime_ns;
};
struct vprof_clock_reading vprof_clock_read(void);

// CLOCK_MONOTONIC. Any thread, the helper included.
uint64_t vprof_monotonic_ns(void);

// Processor time of the process, or of the calling thread. Any thread, the helper included.
uint64_t vprof_process_processor_ns(void);
uint64_t vprof_thread_processor_ns(void);

// The cost of one record in ticks * 256, measured once per program on the caller's stack. Called by
// the one thread that starts a trace.
uint64_t vprof_record_cost_x256(void);

// The cost of a system call that does nothing, likewise. 0: not known, in a confined process.
uint64_t vprof_call_cost_x256(void);

#endif
