// The file of this process. Each function is called by one thread at a time: the one that starts
// the trace, or the one that ends it. None uses the program's heap or much of its stack.
#ifndef VPROF_TRACE_FILE_H
#define VPROF_TRACE_FILE_H

#include <stdint.h>

// Makes the file with its header, maps it and fills in vprof_trace. Returns its descriptor, which
// the caller closes. -1: it could not be made, and nothing is left behind.
// @param start_processor_ns processor time of the process when it began to make it
int vprof_trace_file_make(uint64_t start_processor_ns);

// Keeps the trace directory within reach for the time after a chroot, also of children.
void vprof_trace_file_keep_directory(void);

// Unmaps it, if it is mapped.
void vprof_trace_file_unmap(void);

// Writes the processor time of the process into the header. Any thread, while the file is mapped.
void vprof_trace_file_note_processor_time(void);

// Cuts the file at `next`, or earlier where chunks at its end were never taken. The trace must be
// closed. Best effort: a file that was not cut is sparse, and `used` says where it ends.
void vprof_trace_file_cut(uint64_t next);

#endif
