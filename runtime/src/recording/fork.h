// After a fork the child has a trace of its own.
#ifndef VPROF_FORK_H
#define VPROF_FORK_H

// Registers the handlers. Constructor only.
void vprof_fork_init(void);

// In a child whose trace is still its parent's, makes it a fresh one; elsewhere does nothing. Any
// thread, also in signal handlers; waits if another thread is doing it.
void vprof_notice_fork(void);

#endif
