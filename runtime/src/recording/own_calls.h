// System calls of the runtime itself, for the stated cost of recording: those that ask the kernel
// what a thread waited for, or how long it had a processor. The thread counts them in its chunk.
#ifndef VPROF_OWN_CALLS_H
#define VPROF_OWN_CALLS_H

#include "recording/thread.h"

// Any thread, also in signal handlers, where one that interrupts another may lose its count. Two
// moves: only this thread writes to the word.
static inline void vprof_count_own_call(void) {
  struct vprof_chunk_header* chunk = (struct vprof_chunk_header*)vprof_self.chunk;
  if (chunk != NULL) {
    const uint32_t before = __atomic_load_n(&chunk->own_calls, __ATOMIC_RELAXED);
    __atomic_store_n(&chunk->own_calls, before + 1, __ATOMIC_RELAXED);
  }
}

#endif
