// A simulated thread: the test controls its clocks and its context switches.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct simulated_event {  // a PREEMPTED event, in ticks
  uint64_t start;
  uint64_t duration;
};

enum { SIMULATED_EVENTS = 16 };

// What the kernel reports, and what the runtime did.
struct simulated_thread {
  uint64_t ns;            // the wall clock
  uint64_t processor_ns;  // the thread's processor clock
  uint64_t gave_up;       // switches away because it waited
  uint64_t lost;          // switches away although it could run
  uint64_t last_end;      // ticks: when its last event ended; 0: not known
  unsigned events;        // recorded so far
  struct simulated_event event[SIMULATED_EVENTS];
  unsigned requests;  // to the helper, to watch the thread
  unsigned asked;     // how often the kernel was asked for the number of switches
};
extern struct simulated_thread simulated;

enum simulated_setting { SIMULATED_USUAL, SIMULATED_NO_AREA, SIMULATED_CLASS_OFF };

// A new thread, which has just taken its first chunk. `ticks_per_us`: the rate of the counter.
void simulated_start(uint64_t ticks_per_us, enum simulated_setting setting);
uint64_t simulated_ticks(void);

void simulated_compute(uint64_t ns);
void simulated_lose_processor(uint64_t ns);
void simulated_sleep_unrecorded(uint64_t ns);
void simulated_signal(void);
void simulated_clear_mark(void);
// A recorded wait that itself takes some processor time. `several`: it may sleep more than once.
void simulated_wait(uint64_t ns, uint64_t processor_ns, bool several);
// A call that is timed and does not wait. `lost_ns`: without the processor in it.
void simulated_call(uint64_t processor_ns, uint64_t lost_ns, bool cannot_wait);
void simulated_next_chunk(void);
void simulated_fork(void);  // the processor clock restarts

// A frame begins or ends here. Its time; `since`: the frame's start, 0 for an entry.
uint64_t simulated_frame(uint64_t since);

#ifdef __cplusplus
}
#endif
