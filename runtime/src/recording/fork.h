// After a fork the child has a trace of its own.
#ifndef VPROF_FORK_H
#define VPROF_FORK_H

#include <stdbool.h>

// Registers the handlers. `wanted`: a trace is. Without one a child only forgets the number of the
// thread that forked. Constructor only.
void vprof_fork_init(bool wanted);

// In a child whose trace is still its parent's, makes it a fresh one; elsewhere does nothing. Any
// thread, also in signal handlers; waits if another thread is doing it.
void vprof_notice_fork(void);

#endif
