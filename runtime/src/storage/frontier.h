// The control file of a live run (vprof/runtime/frontier.h), as this process sees it.
//
// Problem. Nobody may have to be asked before a record or an event, and no driver need be there: it
// may have been killed. So two words of the control file decide, which any thread can load at any
// time.
//
//   heartbeat_ns   0: nobody drives. Odd: events are recorded; else sites are off, too.
//   gaps           grows with every gap in the recording. What a thread has remembered from before
//                  a gap (which interval it works for, how much processor time it had) is worth
//                  nothing after it; so a thread compares this number with the one it saw last.
//
// Who stores the 0 if the driver is dead: the helper thread of whichever process comes first, and
// the first thread of a process that is about to start its trace. One of them wins a
// compare-and-swap and switches the sites off; see vprof_frontier_check().
#ifndef VPROF_STORAGE_FRONTIER_H
#define VPROF_STORAGE_FRONTIER_H

#include <stdbool.h>
#include <stdint.h>

#include "vprof/runtime/frontier.h"

// Never NULL. Where there is no control file, one that says that somebody drives.
extern const struct vprof_frontier_header* vprof_frontier;

// Is this process part of a live run? Constant after the constructor.
bool vprof_live(void);

// Is there a driver?
static inline bool vprof_driven(void) {
  return __atomic_load_n(&vprof_frontier->heartbeat_ns, __ATOMIC_RELAXED) != 0;
}

// Is there one that wants events?
static inline bool vprof_recording(void) {
  const uint64_t heartbeat = __atomic_load_n(&vprof_frontier->heartbeat_ns, __ATOMIC_RELAXED);
  return (heartbeat & VPROF_FRONTIER_RECORDING) != 0;
}

static inline uint64_t vprof_gaps(void) {
  return __atomic_load_n(&vprof_frontier->gaps, __ATOMIC_RELAXED);
}

// How often nobody drove any more.
static inline uint64_t vprof_undriven(void) {
  return __atomic_load_n(&vprof_frontier->undriven, __ATOMIC_RELAXED);
}

// Maps the control file over the sites. An armed program makes it if there is none. Constructor
// only.
enum vprof_frontier_found {
  VPROF_FRONTIER_ABSENT,
  VPROF_FRONTIER_MAPPED,
  VPROF_FRONTIER_REFUSED  // reported on standard error
};
enum vprof_frontier_found vprof_frontier_map(void);

// Makes the table of a module (module_tables.h) the same memory as vprof_site_on. If that cannot
// be, says so: the module records nothing. False: this is no live run.
bool vprof_frontier_share(unsigned char* table);

// Replaces the sites by private ones that are off: this process can record nothing, but others can.
void vprof_frontier_leave(void);

// Takes a driver that has not been heard of for 2 s for dead: nobody drives any more, and all sites
// are off. `now`: CLOCK_MONOTONIC in ns. Returns when to look again; UINT64_MAX: nobody drives. Any
// thread, the helper included; also in a signal handler.
uint64_t vprof_frontier_check(uint64_t now);

// Switches all sites off because this process records more than it may.
void vprof_frontier_enforce_limit(void);

#endif
