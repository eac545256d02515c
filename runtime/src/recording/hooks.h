// What recording tells preemption. The one place where calls go upward.
//
// Preemption writes events, so it includes recording. Recording in turn has to say when a thread
// gets its first chunk, when the helper runs, and when the process has forked. Each hook has one
// implementation, in preemption/, which the linker finds: no table of pointers, so nothing to set
// up before the constructor and nothing to reset after a fork.
#ifndef VPROF_HOOKS_H
#define VPROF_HOOKS_H

#include <stdbool.h>
#include <stdint.h>

struct vprof_helper_output;

// The calling thread has taken its first chunk. Called in the slow path of a record, with `busy`
// set: what the hook records itself may find no room.
void vprof_hook_first_chunk(void);

// The same, for any further chunk.
void vprof_hook_next_chunk(void);

// The helper begins. On the helper thread.
void vprof_hook_helper_start(void);

// Does somebody want the helper to run vprof_hook_helper_round()? On the helper thread.
bool vprof_hook_helper_wanted(void);

// Does the helper hold anything that would be lost if the process ended now? Any thread.
bool vprof_hook_helper_holds(void);

// The helper's work; `finishing`: the process is about to exit, so nothing can be put off. Returns
// when it wants to be called again, CLOCK_MONOTONIC in ns; UINT64_MAX: not before somebody asks. On
// the helper thread.
uint64_t vprof_hook_helper_round(struct vprof_helper_output* out, uint64_t now, bool finishing);

// Nobody drives: from now on nothing may cost the program's threads anything. On the helper thread.
void vprof_hook_helper_rest(void);

// Somebody drives again. On the helper thread.
void vprof_hook_helper_resume(void);

// The process is a child of fork, whose trace is not open yet: forget the parent's threads.
void vprof_hook_forked(void);

#endif
