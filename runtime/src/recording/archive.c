// Full chunks are written out, so that their memory, which is warm, can be used again.
//
//   thread ──full chunk──▶ used[] ──helper──▶ written behind the end of the file ──▶ cleared ──▶ pool
//
// Why. Memory that nobody has used for a while is what a record costs most: a page must be found, cleared, mapped, and on a virtual machine
// perhaps taken from the host; that is 2 to 30 ns a record. Chunks that go round are in the cache. Writing them past the page cache
// (O_DIRECT) costs some 1 ns a record, and the profiled program keeps its page cache.
//
// Why nothing is lost or read twice. The chunk stays where it is, with its owner, until the copy is whole; only then it is disowned and
// cleared. A kill in between leaves both, and readers take the first of two chunks with one owner and index: a copy always lies further back.
// Nobody writes to a full chunk but code that a signal handler interrupted between reserving a slot and storing it. Such a slot is still zero
// then, so a chunk with a hole is left where it is for good.
//
// Copies have pages of the page cache for themselves, however large those are. If one lay on the same page as a chunk that somebody records into,
// writing past the page cache would take that page from him, and what is written out of it later could undo what was written past it.
//
// It begins once the trace has some size (VPROF_WINDOW_MB), and only for what the pool lacks. Where the file system knows no O_DIRECT, or the disk is slower than
// fresh memory while threads wait for chunks, the file grows in memory instead, as it does for small chunks.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

enum { kSlotBytes = sizeof(struct vprof_slot) };
enum {
  kLargePage = 2 << 20
};  // the largest of the page cache, if the file system has any (ext4 since Linux 6.16)

static bool has_hole(const struct vprof_chunk_header* chunk) {
  const struct vprof_slot* slot = (const struct vprof_slot*)(chunk + 1);
  const struct vprof_slot* end = (const struct vprof_slot*)((const char*)chunk + chunk->bytes);
  for (; slot < end; ++slot) {
    const uint64_t word = __atomic_load_n(&slot->word1, __ATOMIC_ACQUIRE);
    if (word == 0) {
      return true;
    }
    if ((word & VPROF_ID_MASK) == VPROF_EV_PAD) {
      return false;
    }
  }
  return false;
}

// Not memset, which a sanitizer may have intercepted (helper.c).
static void clear(struct vprof_chunk_header* chunk) {
  uint64_t* word = (uint64_t*)(chunk + 1);
  const uint64_t* end = (uint64_t*)((char*)chunk + chunk->bytes);
  for (; word < end; ++word) {
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
  }
}

bool vprof_archive_possible(int fd) {
  if (fd < 0) {
    return false;
  }
  const long flags = vprof_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
  return flags >= 0 && vprof_syscall(SYS_fcntl, fd, F_SETFL, flags | O_DIRECT, 0, 0, 0) == 0;
}

// Where to write a chunk of the file to: further back than it is itself.
static uint64_t place_for_copy(struct vprof_pool* pool, const struct vprof_chunk_header* chunk) {
  const uint64_t original = (uint64_t)((const char*)chunk - vprof_trace.base);
  if (pool->copies_next + chunk->bytes > pool->copies_end || pool->copies_next < original) {
    pool->copies_next = vprof_file_allocate(kLargePage, kLargePage);
    if (pool->copies_next == 0) {
      return pool->copies_end = 0;
    }
    pool->copies_end = pool->copies_next + kLargePage;
  }
  const uint64_t at = pool->copies_next;
  pool->copies_next += chunk->bytes;
  return at;
}

static bool write_out(struct vprof_pool* pool, const struct vprof_chunk_header* chunk) {
  const uint64_t at = place_for_copy(pool, chunk);
  if (at == 0) {
    return false;
  }
  const long written =
      vprof_syscall(SYS_pwrite64, pool->fd, (long)chunk, (long)chunk->bytes, (long)at, 0, 0);
  if (written != (long)chunk->bytes) {
    return false;  // a gap, or half of it, which is read after the original
  }
  vprof_file_publish(at + chunk->bytes);
  return true;
}

enum vprof_reuse vprof_archive(struct vprof_pool* pool, struct vprof_chunk_header* chunk) {
  if (has_hole(chunk)) {
    return VPROF_REUSE_NEVER;
  }
  if (vprof_settings.ring != 0) {
    vprof_count(&vprof_trace.header->overwritten, (chunk->bytes - sizeof *chunk) / kSlotBytes);
  } else if (!write_out(pool, chunk)) {
    return VPROF_REUSE_FAILED;
  }
  if (vprof_settings.ring == 0) {
    vprof_count(&vprof_trace.header->archived, 1);
  }
  // A chunk without an owner is not read, so a kill in the middle of the clearing leaves no half of it.
  vprof_chunk_set_owner(chunk, 0, 0);
  clear(chunk);
  return VPROF_REUSE_NOW;
}
