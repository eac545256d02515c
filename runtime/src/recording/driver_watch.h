// The helper's part in a live run: it notices that the driver is dead, that nobody drove for a
// while, and that this process records too much.
#ifndef VPROF_DRIVER_WATCH_H
#define VPROF_DRIVER_WATCH_H

#include <stdint.h>

#include "recording/helper_output.h"

struct vprof_driver_watch {
  uint64_t undriven;      // as last seen
  uint64_t driven_ticks;  // all of the trace up to then was driven, or is in a gap that was written
  uint64_t filled;        // vprof_trace.filled when records were last counted
  uint64_t counted_ns;    // CLOCK_MONOTONIC then
  double ahead;           // records beyond what the limit has allowed up to then; 0: none
};

// The helper only: of a trace that has just been started.
struct vprof_driver_watch vprof_driver_watch_begin(void);

// Looks; `now`: CLOCK_MONOTONIC in ns. Returns when it wants to look again. The helper only.
uint64_t vprof_driver_watch_round(struct vprof_driver_watch* watch, struct vprof_helper_output* out,
                                  uint64_t now);

#endif
