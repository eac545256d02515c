#include "recording/chunk_ring.h"

#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/settings.h"
#include "recording/helper.h"
#include "recording/thread.h"
#include "storage/pool.h"
#include "vprof/runtime/record.h"

// ---- the end of a thread

// Values of a key with a small number lie in the thread's own block, so that setting one allocates
// nothing and is safe in a signal handler.
enum { kMostKey = 31 };
static pthread_key_t end_key;
static bool has_end_key;

// After this a record takes a new chunk, which nobody reuses. Those of signal handlers meanwhile
// are dropped, or the chunk that they take would be left as well.
static void leave_chunks(void) {
  struct vprof_thread* self = &vprof_self;
  self->busy = UINTPTR_MAX;  // deeper than any frame
  atomic_signal_fence(memory_order_seq_cst);
  vprof_thread_buffer.cursor = VPROF_RT_NO_ROOM;
  self->chunk = 0;
  if (self->oldest != NULL) {
    vprof_chunks_bequeath(self->oldest, self->newest);
    vprof_helper_wake();
  }
  self->oldest = self->newest = NULL;
  self->kept = 0;
  atomic_signal_fence(memory_order_seq_cst);
  self->busy = 0;
}

// Other destructors may still record, so the last round counts.
static void thread_ends(void* round) {
  const uintptr_t rounds = (uintptr_t)round;
  if (rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(end_key, (void*)(rounds + 1));
  } else {
    leave_chunks();
  }
}

void vprof_ring_init(void) {
  if (vprof_settings.ring == 0 || pthread_key_create(&end_key, thread_ends) != 0) {
    return;
  }
  has_end_key = end_key <= kMostKey;
}

// ---- chunks

void vprof_ring_add(struct vprof_chunk_header* chunk) {
  struct vprof_thread* self = &vprof_self;
  chunk->next = 0;
  if (self->oldest == NULL) {
    self->oldest = chunk;
  } else {
    self->newest->next = (uintptr_t)chunk;
  }
  if (self->oldest == chunk && has_end_key && pthread_getspecific(end_key) == NULL) {
    pthread_setspecific(end_key, (void*)1);
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
