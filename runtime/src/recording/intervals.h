// The interval that a thread works for, for the other sources of marks.
#ifndef VPROF_INTERVALS_H
#define VPROF_INTERVALS_H

#include <stdbool.h>
#include <stdint.h>

// Writes a BEGIN, END or SWITCH with this payload, and returns its time; 0: there was no room.
uint64_t vprof_mark_write(uint32_t event, unsigned def, uint64_t id, uint64_t payload);

// An interval is about to begin, and may be recorded or not. Some moves, to a cache line of the
// thread.
void vprof_count_begun(void);

// What the thread works for from now on. Writes nothing.
void vprof_work_for(uint64_t id, uint64_t flags);

// An id for an interval without a key. Unique among the processes that fork from one another, and
// never a valid pointer.
uint64_t vprof_fresh_id(void);
// False: another process made it, from which this one was forked.
bool vprof_is_own_id(uint64_t id);

#endif
