// What the runtime does for a thread besides its records, for the stated cost of recording. The
// thread counts in its chunk: system calls of the runtime itself, which ask the kernel what the
// thread waited for or how long it had a processor, and intercepted calls that it times.
#ifndef VPROF_OWN_CALLS_H
#define VPROF_OWN_CALLS_H

#include "recording/thread.h"

// Any thread, also in signal handlers, where one that interrupts another may lose its count. Two
// moves: only this thread writes to the word.
static inline void vprof_count_in_chunk(size_t offset) {
  if (vprof_self.chunk != 0) {
    uint32_t* count = (uint32_t*)(vprof_self.chunk + offset);
    __atomic_store_n(count, __atomic_load_n(count, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
  }
}

static inline void vprof_count_own_call(void) {
  vprof_count_in_chunk(offsetof(struct vprof_chunk_header, own_calls));
}

static inline void vprof_count_timed_call(void) {
  vprof_count_in_chunk(offsetof(struct vprof_chunk_header, timed_calls));
}

#endif
