// Hands out the file chunk by chunk, with all pages present.
//
// Where the pages come from. MADV_POPULATE_WRITE faults them in and returns an error where a store
// would raise SIGBUS. A page costs some 0.5 us (2 ns a record) if the file already has its block,
// and several times that if the file system has to find one. So the helper calls fallocate() ahead
// of need, each time for as much again as the trace has grown to. It holds the descriptor for that
// in a descriptor table of its own (recording/helper.c).
//
// Why zeros are written. A page that is faulted in by itself costs 4 us, and a third of that if the
// kernel reads ahead; but then it clears as much at once as the disk's read-ahead is, 8 MiB on some
// machines: 2 to 18 ms, in which the helper keeps the processor if the kernel does not preempt. So
// there is no read-ahead (storage/trace_file.c), and the helper first writes zeros over the hole,
// in pieces: a page then costs 1 us, and a piece some tens of us.
//
// Why not MADV_HUGEPAGE. It makes a page three times as cheap on a machine with memory to spare. On
// a virtual machine whose host takes back free memory, huge pages are the ones that are always
// taken: with PostgreSQL a 4 KiB page cost 6.2 us instead of 3.7.
//
// Slow disks. When too many pages are dirty, the kernel blocks whoever dirties another: the helper,
// and any thread that prepares its own chunk. Whoever was blocked for long says so, and for a
// second only the helper tries; threads drop and count. Losing the processor is not blocking, so
// only waits that the kernel counts as voluntary are taken as a sign.
#define _GNU_SOURCE
#include "storage/chunks.h"

#include <errno.h>
#include <linux/falloc.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"
#include "storage/trace.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

enum { kLeastAhead = 256 << 10, kMostAhead = 64 << 20 };  // bytes

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
  // Kernels before 5.14 leave only touching the pages, and then a full disk is fatal.
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

// Must not add to a file that has been cut. Whoever ends the trace (recording/trace_lifecycle.c)
// closes it first and then waits while `extending` is set; so after setting it, look again. Returns
// where the next chunk will be, or VPROF_CLOSED.
static uint64_t begin_extending(void) {
  atomic_store(&vprof_trace.extending, true);
  return atomic_load(&vprof_trace.next);
}

static void end_extending(void) { atomic_store(&vprof_trace.extending, false); }

// If that fails, the pages are faulted in one by one.
static void write_zeros(int fd, uint64_t at, uint32_t bytes) {
  static char zeros[64 << 10];
  const uint64_t end = at + bytes;
  bool goes_on = begin_extending() != VPROF_CLOSED;
  while (goes_on && at < end) {
    const uint64_t piece = end - at < sizeof zeros ? end - at : sizeof zeros;
    goes_on =
        vprof_syscall(SYS_pwrite64, fd, (long)zeros, (long)piece, (long)at, 0, 0) == (long)piece;
    at += piece;
  }
  end_extending();
}

// A kill between the allocation and the magic leaves a hole of zero pages, which readers skip.
static struct vprof_chunk_header* prepare(uint32_t bytes, int fd) {
  struct vprof_trace* trace = &vprof_trace;
  if (atomic_load_explicit(&trace->full, memory_order_relaxed)) {
    return NULL;
  }
  const uint64_t at = vprof_file_allocate(bytes, VPROF_PAGE_BYTES);
  if (at == 0) {
    return NULL;
  }
  if (fd >= 0) {
    write_zeros(fd, at, bytes);
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

struct vprof_chunk_header* vprof_chunk_prepare(uint32_t bytes) { return prepare(bytes, -1); }

static long waits(void) {
  struct rusage usage = {0};
  return vprof_syscall(SYS_getrusage, RUSAGE_THREAD, (long)&usage, 0, 0, 0, 0) == 0 ? usage.ru_nvcsw
                                                                                    : 0;
}

struct vprof_chunk_header* vprof_chunk_prepare_timed(uint32_t bytes, int fd) {
  enum { kLong = 20000000, kAvoid = 1000000000 };  // ns
  if (atomic_load_explicit(&vprof_trace.full, memory_order_relaxed)) {
    return NULL;
  }
  const uint64_t start = vprof_monotonic_ns();
  const long waits_before = waits();
  struct vprof_chunk_header* chunk = prepare(bytes, fd);
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

void vprof_chunks_extend(int fd) {
  struct vprof_trace* trace = &vprof_trace;
  if (fd < 0 || trace->extended >= trace->capacity) {
    return;
  }
  const uint64_t next = begin_extending();
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
      // Not every file system can do this. On a full disk single pages may still be available.
      trace->extended = result == 0 ? end : UINT64_MAX;
    }
  }
  end_extending();
}
