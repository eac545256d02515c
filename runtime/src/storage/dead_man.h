// What a process does when the driver of a live run is dead, or when it records too much. On plain
// memory, so that tests can simulate the clock.
#ifndef VPROF_DEAD_MAN_H
#define VPROF_DEAD_MAN_H

#include <stdbool.h>
#include <stdint.h>

#include "vprof/runtime/frontier.h"

struct vprof_dead_man {
  struct vprof_frontier_header* header;
  unsigned char* sites;  // VPROF_FRONTIER_SITES bytes
  uint64_t stale_ns;     // a driver whose heartbeat is older is dead
  // Makes a page writable that belongs to a file, where a store could raise SIGBUS. False: it
  // cannot be, because the disk is full.
  bool (*prepare)(void* page);
};

enum vprof_dead_man_result {
  VPROF_DEAD_MAN_DRIVEN,
  VPROF_DEAD_MAN_UNDRIVEN,
  VPROF_DEAD_MAN_STUCK  // a page could not be written: sites of other processes may still be on
};

// Switches all sites off if nobody drives, or if the heartbeat is stale at `now`.
enum vprof_dead_man_result vprof_dead_man_check(const struct vprof_dead_man* man, uint64_t now);

// Switches all sites off, and counts that if any was on. False: stuck.
bool vprof_dead_man_switch_off(const struct vprof_dead_man* man);

#endif
