// The helper thread, as other threads see it.
#ifndef VPROF_HELPER_H
#define VPROF_HELPER_H

// Looks up what starting it needs. Constructor only.
void vprof_helper_init(void);

// Starts it; does nothing where that is not possible, and threads then prepare their own chunks.
// Called by the one thread that starts the trace, possibly in a signal handler: does not allocate
// and takes no lock. fd: of the trace; the helper has its own copy of it.
void vprof_helper_start(int fd);

// Wakes it if it sleeps. Any thread, also in signal handlers; a system call only if it sleeps.
void vprof_helper_wake(void);

// Waits until it has written what it holds, some 20 ms at most. Called when the process exits.
void vprof_helper_finish(void);

#endif
