// Simulated clocks and perf events, which the test controls.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SIMULATED_THREADS = 4, SIMULATED_WRITES = 64 };

struct simulated_write {  // a PREEMPTED event of the helper's
  uint64_t start, duration;
  uint32_t serial;
};

struct simulated_kernel {
  uint64_t ns;                    // CLOCK_MONOTONIC
  uint64_t ticks_per_us;          // of the processor's counter
  uint64_t reading_ns;            // each reading of a clock takes this long
  unsigned disturbed;             // that many readings, from now on, take a millisecond longer
  int open_error;                 // of perf_event_open; 0: succeeds
  int map_error;                  // of mapping its ring
  int sandbox;                    // what prctl(PR_GET_SECCOMP) says
  bool ended[SIMULATED_THREADS];  // by thread id
  bool no_room;                   // in the trace
  unsigned opened, closed;
  unsigned writes;
  struct simulated_write write[SIMULATED_WRITES];
  // Of the header.
  uint64_t unwatched, refused, lost, let_go;
};
extern struct simulated_kernel simulated_kernel;

// A process whose trace begins now, with a helper that watches nobody.
void simulated_boot(uint64_t ticks_per_us);
uint64_t simulated_ticks_at(uint64_t ns);

// clock.c
uint64_t simulated_calibrate(void);  // the rate, in ticks per second

// switches.c. Threads have ids and serials from 0 to SIMULATED_THREADS - 1, and an id is its
// serial.
void simulated_watch(uint32_t thread);
enum simulated_switch { SIMULATED_IN, SIMULATED_OUT, SIMULATED_OUT_PREEMPTED };
void simulated_switch_at(uint32_t thread, enum simulated_switch which, uint64_t ns);
void simulated_lose_records(uint32_t thread, uint64_t count);
// The helper's turn. Returns when it wants the next one.
uint64_t simulated_helper_round(bool finishing);
// Its turn while nobody drives.
void simulated_helper_rest(void);

#ifdef __cplusplus
}
#endif
