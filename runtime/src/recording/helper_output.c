#include "recording/helper_output.h"

#include <string.h>

#include "base/raw_syscall.h"
#include "base/settings.h"
#include "storage/archive.h"
#include "storage/chunks.h"
#include "storage/pool.h"
#include "vprof/runtime/record.h"

// Ring: the helper's own oldest chunk, cleared. NULL: it may have another one.
static struct vprof_chunk_header* from_ring(struct vprof_helper_output* out) {
  struct vprof_chunk_header* oldest = out->oldest;
  if (vprof_settings.ring == 0 || out->kept + vprof_chunk_bytes[1] <= vprof_settings.ring ||
      oldest == out->chunk) {
    return NULL;
  }
  out->oldest = (struct vprof_chunk_header*)(uintptr_t)oldest->next;
  out->kept -= oldest->bytes;
  vprof_archive_overwrite(oldest);
  return oldest;
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
  if (out->chunk == NULL) {
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
