// Writing events to the thread's own chunk. Any thread but the helper, which may use only
// vprof_slot_of(); also in signal handlers, inside the program's malloc and before the constructor.
// These functions preserve errno, take no lock and do not allocate. They block only while a new
// chunk is prepared.
#ifndef VPROF_BUFFER_H
#define VPROF_BUFFER_H

#include <stdint.h>

#include "recording/thread.h"
#include "vprof/runtime/record.h"
#include "vprof/runtime/trace_format.h"

// Writes the slots as one event: adjacent, the head last, so that a head implies a whole event. An
// event that finds no room is dropped and counted.
void vprof_write(const struct vprof_slot* slots, unsigned count);

// The same in two steps, for an event whose time must be taken when all else is done: whatever it
// takes to find room comes before the time. 0: no room, and the slots are counted as dropped.
uintptr_t vprof_reserve(unsigned slots);
void vprof_write_at(uintptr_t at, const struct vprof_slot* slots, unsigned count);

// The time from `start` until now was the runtime's own, and none of the program's: an EV_SETUP, if
// the thread's chunk has room for it.
void vprof_write_setup(uint64_t start);

// When the event that this thread recorded last ended, in ticks. 0: not known (it is in an earlier
// chunk, or has more than four slots).
uint64_t vprof_last_end(void);

// Drops are counted outside the header until there is one. Whoever comes last, the thread that
// counts or the thread that opens the trace, moves them into the header.
void vprof_count_early_drops(void);

// 1, 2, ... in order of first use.
uint32_t vprof_thread_serial(void);
// The kernel's id of this thread.
uint32_t vprof_thread_id(void);

// The time for an event that begins now. Records first what it finds of a preemption before it, so
// that this is not counted as part of the event.
static inline uint64_t vprof_event_time(void) { return vprof_now(&vprof_thread_buffer, 0); }

// A payload that does not fit is clamped.
static inline struct vprof_slot vprof_slot_of(uint32_t id, uint64_t word0, uint64_t payload) {
  const struct vprof_slot slot = {
      word0, id | (payload > VPROF_PAYLOAD_MAX ? VPROF_PAYLOAD_MAX : payload) << VPROF_ID_BITS};
  return slot;
}

#endif
