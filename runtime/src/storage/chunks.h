// Pieces of the file. All functions here: any thread, the helper included; also in signal handlers.
// None of them allocates memory or takes a lock.
#ifndef VPROF_CHUNKS_H
#define VPROF_CHUNKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vprof/runtime/trace_format.h"

// A chunk with a complete header but for its owner, and with all its pages present: writing to it
// faults no page. May block for as long as the disk does. NULL: no room (vprof_trace.full is set if
// not even a page is left), or the trace is closed.
struct vprof_chunk_header* vprof_chunk_prepare(uint32_t bytes);

// The same; notes if the disk made the caller wait. fd: of the trace, if the caller has it, which
// makes a page cheaper; else -1.
struct vprof_chunk_header* vprof_chunk_prepare_timed(uint32_t bytes, int fd);

// True for a second after somebody had to wait for the disk.
bool vprof_disk_is_slow(void);

// Gives the file blocks ahead of need. The helper only. fd: of the trace; -1: does nothing.
void vprof_chunks_extend(int fd);

// Takes `bytes` at the end of the file and returns their offset, a multiple of `align`. One
// compare-and-swap. 0: no room, or the trace is closed.
uint64_t vprof_file_allocate(uint32_t bytes, uint32_t align);

// Raises `used` in the file header to `end`, if it is lower.
void vprof_file_publish(uint64_t end);

// Adds to a counter in the file header.
void vprof_count(uint64_t* counter, uint64_t by);

// Stores both at once: whenever the program is killed, a chunk has a whole owner or none.
static inline void vprof_chunk_set_owner(struct vprof_chunk_header* chunk, uint32_t serial,
                                         uint32_t tid) {
  _Static_assert(offsetof(struct vprof_chunk_header, tid) ==
                     offsetof(struct vprof_chunk_header, thread_serial) + sizeof tid,
                 "one word");
  const uint32_t owner[2] = {serial, tid};
  uint64_t word = 0;
  __builtin_memcpy(&word, owner, sizeof word);
  __atomic_store_n((uint64_t*)&chunk->thread_serial, word, __ATOMIC_RELEASE);
}

#endif
