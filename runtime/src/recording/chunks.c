// Handing out the file, chunk by chunk, with all pages present.
//
// Pages that cannot be had are faulted in by MADV_POPULATE_WRITE, which returns an error where a store would bring SIGBUS. That costs
// some 0.5 us a page (2 ns a record) if the file system has given the file its blocks before, and several times that if it must find a
// block for each page. So the helper allocates ahead of need, as much again as the trace has grown to, by fallocate(). It has the
// descriptor for that in a table of its own (helper.c).
//
// Not MADV_HUGEPAGE: it makes a page three times as cheap where the machine has memory to give, but on a virtual machine whose host takes free memory
// back, large pages are just what is always taken: 6.2 instead of 3.7 us a page of 4 KiB, measured with PostgreSQL.
//
// A disk that is too slow: the kernel stops those who make pages dirty, the helper and whoever prepares a chunk itself. Whoever has been
// stopped for long says so, and for some time nobody but the helper tries: threads drop and count. Not having been given a processor is
// something else, so only waits count that the kernel calls voluntary.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "recording/raw_syscall.h"
#include "recording/trace.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { kLeastAhead = 256 << 10, kMostAhead = 64 << 20 };  // bytes
enum { kSlow = 20000000 };                                // ns

void vprof_count(uint64_t* counter, uint64_t by) {
  __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}

uint64_t vprof_file_allocate(uint32_t bytes, uint32_t align) {
  struct vprof_trace* trace = &vprof_trace;
  uint64_t next = atomic_load(&trace->next);
  uint64_t at = 0;
  do {
    if (next == VPROF_CLOSED) {
      return 0;
    }
    at = (next + align - 1) / align * align;
    if (at + bytes > trace->capacity) {
      if (bytes == VPROF_PAGE_BYTES) {
        atomic_store(&trace->full, true);
      }
      return 0;
    }
  } while (!atomic_compare_exchange_weak(&trace->next, &next, at + bytes));
  return at;
}

static bool populate(char* from, uint32_t bytes) {
  const long result =
      vprof_syscall(SYS_madvise, (long)from, (long)bytes, MADV_POPULATE_WRITE, 0, 0, 0);
  if (result == 0) {
    return true;
  }
  if (result != -EINVAL) {
    return false;
  }
  // A kernel before 5.14: touching is all there is, and a full disk is fatal.
  for (uint32_t at = 0; at < bytes; at += VPROF_PAGE_BYTES) {
    *(volatile char*)(from + at) = 0;
  }
  return true;
}

void vprof_file_publish(uint64_t end) {
  uint64_t* used = &vprof_trace.header->used;
  uint64_t before = __atomic_load_n(used, __ATOMIC_RELAXED);
  while (before < end && !__atomic_compare_exchange_n(used, &before, end, true, __ATOMIC_RELEASE,
                                                      __ATOMIC_RELAXED)) {
  }
}

// Between allocate() and the magic a kill leaves a hole of zero pages, which readers step over.
struct vprof_chunk_header* vprof_chunk_prepare(uint32_t bytes) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load_explicit(&trace->full, memory_order_relaxed)) {
    return NULL;
  }
  const uint64_t at = vprof_file_allocate(bytes, VPROF_PAGE_BYTES);
  if (at == 0) {
    return NULL;
  }
  if (!populate(trace->base + at, bytes)) {
    atomic_store(&trace->full, true);
    return NULL;
  }
  struct vprof_chunk_header* chunk = (struct vprof_chunk_header*)(trace->base + at);
  chunk->bytes = bytes;
  __atomic_store_n(&chunk->magic, VPROF_CHUNK_MAGIC, __ATOMIC_RELEASE);
  vprof_file_publish(at + bytes);
  return chunk;
}

static long waits(void) {
  struct rusage usage = {0};
  return vprof_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0 ? usage.ru_nvcsw
                                                                                    : 0;
}

struct vprof_chunk_header* vprof_chunk_prepare_timed(uint32_t bytes) {
  enum { kLong = 20000000, kAvoid = 1000000000 };  // ns
  if (atomic_load_explicit(&vprof_trace.full, memory_order_relaxed)) {
    return NULL;
  }
  const uint64_t start = vprof_monotonic_ns();
  const long waits_before = waits();
  struct vprof_chunk_header* chunk = vprof_chunk_prepare(bytes);
  const uint64_t now = vprof_monotonic_ns();
  if (now - start > kLong * vprof_settings.patience && waits() != waits_before) {
    atomic_store(&vprof_trace.slow_until, now + kAvoid);
  }
  return chunk;
}

bool vprof_disk_is_slow(void) {
  const uint64_t until = atomic_load_explicit(&vprof_trace.slow_until, memory_order_relaxed);
  return until != 0 && vprof_monotonic_ns() < until;
}

// The one who ends the trace (trace_file.c) closes it and then waits while `extending` is set, so that nothing is added to a
// file that has been cut.
void vprof_chunks_extend(int fd) {
  struct vprof_trace* trace = &vprof_trace;
  if (fd < 0 || trace->extended >= trace->capacity) {
    return;
  }
  atomic_store(&trace->extending, true);
  const uint64_t next = atomic_load(&trace->next);
  if (next != VPROF_CLOSED) {
    uint64_t ahead = next < kLeastAhead ? kLeastAhead : next;
    if (ahead > kMostAhead) {
      ahead = kMostAhead;
    }
    uint64_t from = trace->extended;
    if (from < next) {
      from = next;
    }
    uint64_t end = next + ahead;
    if (end > trace->capacity) {
      end = trace->capacity;
    }
    if (next + ahead / 2 > trace->extended && end > from) {
      const long result = vprof_syscall(SYS_fallocate, fd, 0, (long)from, (long)(end - from), 0, 0);
      // Not every file system can; where the disk is full, single pages may still be had.
      trace->extended = result == 0 ? end : UINT64_MAX;
    }
  }
  atomic_store(&trace->extending, false);
}
