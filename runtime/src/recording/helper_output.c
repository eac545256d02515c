#include "recording/helper_output.h"

#include <string.h>

#include "base/raw_syscall.h"
#include "base/settings.h"
#include "storage/chunks.h"
#include "storage/pool.h"
#include "storage/trace.h"
#include "vprof/runtime/record.h"

// Ring: the helper clears its own oldest chunk.
static struct vprof_chunk_header* reuse_oldest(struct vprof_helper_output* out) {
  struct vprof_chunk_header* chunk = out->oldest;
  out->oldest = (struct vprof_chunk_header*)(uintptr_t)chunk->next;
  const uint32_t bytes = chunk->bytes;
  vprof_chunk_set_owner(chunk, 0, 0);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  uint64_t* word = (uint64_t*)(chunk + 1);
  for (const uint64_t* end = (uint64_t*)((char*)chunk + bytes); word < end; ++word) {
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
  }
  vprof_count(&vprof_trace.header->overwritten,
              (bytes - sizeof *chunk) / sizeof(struct vprof_slot));
  return chunk;
}

// Its place in the ring; NULL: nothing to reuse yet.
static struct vprof_chunk_header* from_ring(struct vprof_helper_output* out) {
  if (vprof_settings.ring == 0 || out->kept + vprof_chunk_bytes[1] <= vprof_settings.ring ||
      out->oldest == out->chunk) {
    return NULL;
  }
  out->kept -= out->oldest->bytes;
  return reuse_oldest(out);
}

// Small chunks first: in most processes the helper writes only a few snapshots of the clocks.
static bool next_chunk(struct vprof_helper_output* out) {
  enum { kSmall = 4 };
  struct vprof_chunk_header* chunk = from_ring(out);
  if (chunk == NULL) {
    chunk = vprof_chunk_prepare(vprof_chunk_bytes[out->chunks < kSmall ? 0 : 1]);
  }
  if (chunk == NULL) {
    return false;
  }
  chunk->next = 0;
  if (out->oldest == NULL) {
    out->oldest = chunk;
  } else {
    out->chunk->next = (uintptr_t)chunk;
  }
  out->kept += chunk->bytes;
  chunk->index = out->chunks++;
  chunk->tid = (uint32_t)vprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
  memcpy(chunk->thread_name, "vprof", 6);
  out->chunk = chunk;
  out->slots = 0;
  return true;
}

bool vprof_helper_write(struct vprof_helper_output* out, const struct vprof_slot* slots,
                        unsigned count) {
  const struct vprof_chunk_header* chunk = out->chunk;
  const bool room =
      chunk != NULL && sizeof *chunk + (out->slots + count) * sizeof *slots <= chunk->bytes;
  if (!room && !next_chunk(out)) {
    return false;
  }
  const uintptr_t at = (uintptr_t)(out->chunk + 1) + out->slots * sizeof *slots;
  for (unsigned i = count; i-- > 0;) {
    vprof_store_slot(at + i * sizeof *slots, slots[i].word0, slots[i].word1);
  }
  out->slots += count;
  return true;
}
