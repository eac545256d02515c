#include "recording/chunk_ring.h"

#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "recording/thread.h"
#include "storage/pool.h"

void vprof_ring_add(struct vprof_chunk_header* chunk) {
  struct vprof_thread* self = &vprof_self;
  chunk->next = 0;
  if (self->oldest == NULL) {
    self->oldest = chunk;
  } else {
    self->newest->next = (uintptr_t)chunk;
  }
  self->newest = chunk;
  self->kept += chunk->bytes;
}

void vprof_ring_shrink(bool no_room) {
  struct vprof_thread* self = &vprof_self;
  while ((self->kept > vprof_settings.ring || no_room) && self->oldest != self->newest) {
    struct vprof_chunk_header* chunk = self->oldest;
    struct vprof_chunk_header* next = (struct vprof_chunk_header*)(uintptr_t)chunk->next;
    const uint32_t bytes = chunk->bytes;
    if (!vprof_chunk_hand_over(chunk)) {
      return;
    }
    self->oldest = next;
    self->kept -= bytes;
    no_room = false;
  }
}
