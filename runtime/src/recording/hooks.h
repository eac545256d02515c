// What recording tells preemption. The one place where calls go upward.
//
// Preemption writes events, so it includes recording. Recording in turn has to say when a thread
// gets its first chunk, when the helper runs, and when the process has forked. Each hook has one
// implementation, in preemption/, which the linker finds: no table of pointers, so nothing to set up
// before the constructor and nothing to reset after a fork.
#ifndef VPROF_HOOKS_H
#define VPROF_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct vprof_helper_output;

// The calling thread owns its first chunk, or a further one. Called in the slow path of a record,
// with `busy` set; a record written here may find no room.
void vprof_hook_first_chunk(void);
void vprof_hook_next_chunk(void);

// On the helper thread: it begins; has anybody asked for something; it does its work, `finishing` if
// the process is about to exit. Returns when it wants the next round, CLOCK_MONOTONIC in ns;
// UINT64_MAX: not before somebody asks.
void vprof_hook_helper_start(void);
bool vprof_hook_helper_wanted(void);
uint64_t vprof_hook_helper_round(struct vprof_helper_output* out, uint64_t now, bool finishing);

// In a child of fork, before its trace is open: nobody of the parent is watched here.
void vprof_hook_forked(void);

#endif
