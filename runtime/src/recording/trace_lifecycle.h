// Starting the trace at the first record, ending it at exit.
#ifndef VPROF_TRACE_LIFECYCLE_H
#define VPROF_TRACE_LIFECYCLE_H

#include <stdbool.h>

// Opens the trace, or waits for another thread that does, some 0.2 s at most. True: it is open.
// Called from the slow path of a record, so also in signal handlers; the caller has set
// vprof_self.busy.
bool vprof_trace_start(void);

// The process ends at once, as by _exit(): what only its destructors would do is left out, but its
// file has its processor time.
void vprof_trace_leave(void);

#endif
