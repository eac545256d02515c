// Chunks that are ready ahead of need.
#ifndef VPROF_POOL_H
#define VPROF_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "storage/archive.h"
#include "vprof/runtime/trace_format.h"

// The sizes of chunks, in ascending order.
extern const uint32_t vprof_chunk_bytes[];

// ---- any thread, also in a signal handler

// Before the first chunk is taken: called by the one thread that starts a trace.
void vprof_pool_start(void);

// A chunk for a thread that has had `chunks` so far; the caller owns it and then wakes the helper.
// If none is ready it prepares a small one, which takes some microseconds, or as long as the disk
// does. NULL: there is none to be had.
struct vprof_chunk_header* vprof_chunk_take(uint32_t chunks);

// The size of the largest chunks that threads get.
uint32_t vprof_chunk_most_bytes(void);

// Asks for as many chunks of every size as may be ready. The caller wakes the helper.
void vprof_pool_stock_up(void);

// Offers a chunk for reuse; its thread must not touch it again. False: there is no place for it, so
// it remains part of the file. Never blocks.
bool vprof_chunk_hand_over(struct vprof_chunk_header* chunk);

// Offers the chunks of a thread that has ended, a list from the oldest to the newest. Ring only.
void vprof_chunks_bequeath(struct vprof_chunk_header* oldest, struct vprof_chunk_header* newest);

// Has the helper something to do here?
bool vprof_pool_lacks(void);

// ---- the helper only

// Chunks of threads that have ended, from the first that ended to the last.
struct vprof_orphans {
  struct vprof_chunk_header* oldest;
  struct vprof_chunk_header* newest;
  uint64_t bytes;
};

struct vprof_pool {
  struct vprof_archive archive;
  bool archives;                  // false: full chunks stay in memory
  uint64_t archive_ns, fresh_ns;  // running means: the cost of a large chunk, reused and fresh
  struct vprof_orphans orphans;
};

// fd: of the trace.
struct vprof_pool vprof_pool_open(int fd);

// Makes chunks ready until every size has its target. Blocks for as long as the disk does.
void vprof_pool_fill(struct vprof_pool* pool);

#endif
