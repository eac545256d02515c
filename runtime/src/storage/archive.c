// Writes full chunks out, so that their memory, which is warm, can be reused.
//
//   thread --full chunk--> used[] --helper--> copied to the end of the file --> cleared --> pool
//
// Why. The largest cost of a record is memory that nobody has touched for a while: a page must be
// found, cleared and mapped, and on a virtual machine perhaps taken from the host. That is 2 to 30
// ns a record. Chunks that are recycled stay in the cache. Writing them past the page cache
// (O_DIRECT) costs some 1 ns a record and leaves the page cache to the profiled program.
//
// Why nothing is lost or read twice. The chunk stays in place, with its owner, until the copy is
// whole; only then is it disowned and cleared. A kill in between leaves both, and readers take the
// first of two chunks with the same owner and index: a copy always comes later in the file. The
// only code that may still write to a full chunk is code that a signal handler interrupted between
// reserving a slot and storing it. That slot is then still zero, so a chunk with a hole stays where
// it is for good.
//
// Why copies are aligned to large pages. Their pages of the page cache hold nothing else. If a copy
// shared one with a chunk that is being recorded into, the direct write would take that page away
// from the recording thread, and writing the page back later could undo the direct write.
//
// When. Once the trace has some size (VPROF_WINDOW_MB), and only to fill the pool. Where the file
// system has no O_DIRECT, or where the disk is slower than fresh memory while threads wait for
// chunks, the file grows in memory instead, as it always does for small chunks.
#define _GNU_SOURCE
#include "storage/archive.h"

#include <fcntl.h>
#include <stddef.h>

#include "base/raw_syscall.h"
#include "storage/chunks.h"
#include "storage/trace.h"

enum { kSlotBytes = sizeof(struct vprof_slot) };
// The largest page of the page cache, where the file system uses large ones (ext4 since Linux
// 6.16).
enum { kLargePage = 2 << 20 };

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

// Not memset(): a sanitizer may have intercepted that (recording/helper.c).
static void clear(struct vprof_chunk_header* chunk) {
  uint64_t* word = (uint64_t*)(chunk + 1);
  const uint64_t* end = (uint64_t*)((char*)chunk + chunk->bytes);
  for (; word < end; ++word) {
    __atomic_store_n(word, 0, __ATOMIC_RELAXED);
  }
}

// Switches direct I/O on or off, which is on only while a chunk is written.
static bool switch_direct(int fd, bool on) {
  const long flags = vprof_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
  const long wanted = on ? flags | O_DIRECT : flags & ~O_DIRECT;
  return flags >= 0 && vprof_syscall(SYS_fcntl, fd, F_SETFL, wanted, 0, 0, 0) == 0;
}

bool vprof_archive_possible(int fd) {
  return fd >= 0 && switch_direct(fd, true) && switch_direct(fd, false);
}

// Where the copy of a chunk goes: further back in the file than the chunk.
static uint64_t place_for_copy(struct vprof_archive* archive,
                               const struct vprof_chunk_header* chunk) {
  const uint64_t original = (uint64_t)((const char*)chunk - vprof_trace.base);
  if (archive->next + chunk->bytes > archive->end || archive->next < original) {
    archive->next = vprof_file_allocate(kLargePage, kLargePage);
    if (archive->next == 0) {
      return archive->end = 0;
    }
    archive->end = archive->next + kLargePage;
  }
  const uint64_t at = archive->next;
  archive->next += chunk->bytes;
  return at;
}

static bool write_out(struct vprof_archive* archive, const struct vprof_chunk_header* chunk) {
  const uint64_t at = place_for_copy(archive, chunk);
  if (at == 0 || !switch_direct(archive->fd, true)) {
    return false;
  }
  const long written =
      vprof_syscall(SYS_pwrite64, archive->fd, (long)chunk, (long)chunk->bytes, (long)at, 0, 0);
  switch_direct(archive->fd, false);
  if (written != (long)chunk->bytes) {
    return false;  // leaves a gap or half a copy, which readers see after the original
  }
  vprof_file_publish(at + chunk->bytes);
  return true;
}

static void empty(struct vprof_chunk_header* chunk) {
  // Readers skip chunks without an owner, so a kill halfway through the clearing does no harm.
  // A reader that finds the same owner before and after it has copied the chunk has a whole copy.
  vprof_chunk_set_owner(chunk, 0, 0);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  clear(chunk);
}

void vprof_archive_overwrite(struct vprof_chunk_header* chunk) {
  vprof_count(&vprof_trace.header->overwritten, (chunk->bytes - sizeof *chunk) / kSlotBytes);
  empty(chunk);
}

enum vprof_reuse vprof_archive_chunk(struct vprof_archive* archive,
                                     struct vprof_chunk_header* chunk) {
  if (has_hole(chunk)) {
    return VPROF_REUSE_NEVER;
  }
  if (vprof_settings.ring != 0) {
    vprof_archive_overwrite(chunk);
    return VPROF_REUSE_NOW;
  }
  if (!write_out(archive, chunk)) {
    return VPROF_REUSE_FAILED;
  }
  vprof_count(&vprof_trace.header->archived, 1);
  empty(chunk);
  return VPROF_REUSE_NOW;
}
