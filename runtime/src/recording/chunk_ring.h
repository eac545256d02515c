// With VPROF_RING_MB a thread keeps only its newest chunks: a list from the oldest to the newest,
// in vprof_self. Called in the slow path of a record, with `busy` set; neither blocks.
#ifndef VPROF_CHUNK_RING_H
#define VPROF_CHUNK_RING_H

#include <stdbool.h>

#include "vprof/runtime/trace_format.h"

// From now on the chunks of threads that end are reused, too. Constructor only.
void vprof_ring_init(void);

void vprof_ring_add(struct vprof_chunk_header* chunk);

// Hands over what exceeds the ring and, with `no_room`, the oldest chunk in any case.
void vprof_ring_shrink(bool no_room);

#endif
