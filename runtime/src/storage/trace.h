// The trace of this process, as all modules see it. Everything here may be read by any thread, in a
// signal handler, inside the program's malloc and before the constructor has run.
//
//   a frame: record.h, inlined --no room--+
//                                         v
//   an event: intervals, waits --> recording/buffer.c --next chunk--> storage/pool.c
//                                                                         ^
//   storage/chunks.c, archive.c --new or recycled--> recording/helper.c --+
//
// Rooms, each of which includes only those to its right:
//
//   startup, system_calls --> interpose --> preemption --> recording --> storage --> base
//
// Recording calls upward in a few places, through recording/hooks.h.
#ifndef VPROF_TRACE_H
#define VPROF_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/settings.h"
#include "storage/frontier.h"
#include "vprof/runtime/trace_format.h"

enum vprof_state {
  VPROF_OFF,       // no trace is wanted, or the constructor has not run
  VPROF_READY,     // wanted; the first record makes the file
  VPROF_STARTING,  // some thread is making it
  VPROF_OPEN,
  VPROF_FAILED  // it could not be made; all sites are off
};

enum { VPROF_CHUNK_CLASSES = 4, VPROF_POOL_SLOTS = 64 };

// Zero at program start; a child of fork begins with a fresh one (recording/fork.c).
struct vprof_trace {
  atomic_int state;  // enum vprof_state
  pid_t pid;
  uint32_t epoch;  // counts forks: a slow path can tell that it woke up in another process

  // Written while STARTING, constant while OPEN.
  char* base;  // the file, mapped whole
  uint64_t capacity;
  struct vprof_file_header* header;  // at `base`
  dev_t device;
  ino_t inode;
  char path[VPROF_PATH_MAX + 64];

  // Once the program leaves its root directory (interpose/confine.c), else 0: a descriptor of the
  // trace directory, and what it must still refer to.
  int directory;
  dev_t directory_device;
  ino_t directory_inode;

  atomic_uint_fast64_t next;           // offset of the next chunk; VPROF_CLOSED: no more
  atomic_bool full;                    // no room in the file or on the disk: do not try again
  atomic_uint_fast64_t dropped_early;  // slots dropped before there was a header to count them in
  atomic_uint next_serial;
  atomic_uint_fast64_t filled;  // slots of the chunks that threads have filled
  uint64_t undriven;            // vprof_undriven() just before the trace was started

  // Chunks that the helper has made ready, by size class.
  _Atomic(struct vprof_chunk_header*) pool[VPROF_CHUNK_CLASSES][VPROF_POOL_SLOTS];
  atomic_uint pool_target[VPROF_CHUNK_CLASSES];
  // Full chunks, for the helper to clear and reuse.
  _Atomic(struct vprof_chunk_header*) used[VPROF_POOL_SLOTS];
  // Ring: chunks of threads that have ended, a list, for the helper to take.
  _Atomic(struct vprof_chunk_header*) orphans;
  atomic_uint helper_idle;          // futex: 1 while the helper sleeps
  uint64_t extended;                // the file has blocks up to here; only the helper uses it
  atomic_bool extending;            // the helper may be allocating blocks or writing beyond the end
  atomic_bool finishing;            // the process is exiting: the helper must write what it holds
  atomic_uint_fast64_t slow_until;  // CLOCK_MONOTONIC, ns: the disk is considered slow until then
};
#define VPROF_CLOSED UINT64_MAX

extern struct vprof_trace vprof_trace;

// Is this process to record something, now or at another time?
static inline bool vprof_wanted(void) {
  const int state = atomic_load_explicit(&vprof_trace.state, memory_order_relaxed);
  return state != VPROF_OFF && state != VPROF_FAILED;
}

// Are events wanted now?
static inline bool vprof_active(void) { return vprof_wanted() && vprof_recording(); }

#endif
