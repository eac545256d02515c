// The file of this process: made at the first record, mapped whole, handed out in chunks, cut to
// size at exit.
//
// The file is reserved up front as one sparse mapping, and its descriptor is closed at once: many
// programs close all descriptors, and later calls of chdir, chroot or setuid must not matter. From
// then on handing out a chunk is one compare-and-swap of `next`.
//
// Nobody may touch the mapping beyond the end of the file (SIGBUS). The end moves once, at exit,
// while other threads may still run. So the order there is: `next` becomes CLOSED (no chunk is
// handed out any more, and its last value lies beyond every chunk that was), and then the file is
// cut at that value. A full disk is the same danger, since touching a page that cannot be allocated
// raises SIGBUS too (chunks.c).
#define _GNU_SOURCE
#include "storage/trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "storage/trace.h"

enum { kLeastCapacity = 1 << 20 };

struct vprof_trace vprof_trace;

// ---- making it

// A file beyond RLIMIT_FSIZE would raise SIGXFSZ.
static uint64_t wanted_capacity(void) {
  uint64_t capacity = vprof_settings.capacity;
  struct rlimit limit;
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < capacity) {
    capacity = limit.rlim_cur / VPROF_PAGE_BYTES * VPROF_PAGE_BYTES;
  }
  return capacity;
}

// Reserves file size and address space, halving until both are granted.
static bool reserve(int fd) {
  struct vprof_trace* trace = &vprof_trace;
  for (uint64_t bytes = wanted_capacity(); bytes > VPROF_FILE_HEADER_BYTES;
       bytes = bytes / 2 / VPROF_PAGE_BYTES * VPROF_PAGE_BYTES) {
    if (ftruncate(fd, (off_t)bytes) == 0) {
      void* base = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
      if (base != MAP_FAILED) {
        madvise(base, bytes, MADV_DONTDUMP);
        madvise(base, bytes, MADV_RANDOM);  // no read-ahead (storage/chunks.c)
        trace->base = base;
        trace->capacity = bytes;
        trace->header = base;
        return true;
      }
    }
    if (bytes <= kLeastCapacity) {
      break;
    }
  }
  return false;
}

// Written, not stored through the mapping: on a full disk a write fails, a store raises SIGBUS.
static bool write_header(int fd, uint64_t start_processor_ns) {
  static struct vprof_file_header header;
  const struct vprof_clock_reading now = vprof_clock_read();
  memset(&header, 0, sizeof header);
  header.magic = VPROF_TRACE_MAGIC;
  header.version = VPROF_TRACE_VERSION;
  header.endian = VPROF_TRACE_ENDIAN;
  header.slot_bytes = sizeof(struct vprof_slot);
  header.clock = (uint32_t)vprof_clock_kind;
  header.pid = (uint32_t)vprof_trace.pid;
  header.parent_pid = (uint32_t)getppid();
  header.start_ticks = now.ticks;
  header.start_monotonic_ns = now.monotonic_ns;
  header.start_realtime_ns = now.realtime_ns;
  header.ticks_per_second = vprof_ticks_per_second;
  header.used = VPROF_FILE_HEADER_BYTES;
  header.capacity = vprof_trace.capacity;
  header.record_ticks_x256 = vprof_record_cost_x256();
  header.call_ticks_x256 = vprof_call_cost_x256();
  header.start_processor_ns = start_processor_ns;
  header.family = vprof_settings.family;
  header.classes = vprof_settings.classes;
  if (readlink("/proc/self/exe", header.program, sizeof header.program - 1) < 0) {
    header.program[0] = 0;
  }
  // Not pwrite(): that is interposed and would record this as a wait of the program.
  return vprof_syscall(SYS_pwrite64, fd, (long)&header, sizeof header, 0, 0, 0) ==
         (long)sizeof header;
}

// High, where no program expects its own: most count up from 0.
enum { kKeptDescriptor = 900 };

void vprof_trace_file_keep_directory(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (trace->directory != 0) {
    return;
  }
  const int fd = open(vprof_settings.directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  int kept = fcntl(fd, F_DUPFD_CLOEXEC, kKeptDescriptor);
  if (kept < 0) {
    kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);  // RLIMIT_NOFILE is small
  }
  struct stat status;
  if (kept >= 0 && fstat(kept, &status) == 0) {
    trace->directory_device = status.st_dev;
    trace->directory_inode = status.st_ino;
    trace->directory = kept;
  }
  // Not close(): that is interposed.
  vprof_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
}

// The descriptor, or AT_FDCWD: the path will do. The program may have closed the descriptor, or
// have opened another file under its number.
static int directory(void) {
  const struct vprof_trace* trace = &vprof_trace;
  struct stat status;
  const bool kept = trace->directory != 0 && fstat(trace->directory, &status) == 0 &&
                    status.st_dev == trace->directory_device &&
                    status.st_ino == trace->directory_inode;
  return kept ? trace->directory : AT_FDCWD;
}

static const char* name_of(const char* path) { return strrchr(path, '/') + 1; }

static bool give_final_name(int from, const char* unfinished) {
  const char* path = vprof_trace.path;
  return from == AT_FDCWD ? rename(unfinished, path) == 0
                          : renameat(from, name_of(unfinished), from, name_of(path)) == 0;
}

void vprof_trace_file_unmap(void) {
  struct vprof_trace* trace = &vprof_trace;
  if (trace->base != NULL) {
    munmap(trace->base, trace->capacity);
  }
  trace->base = NULL;
}

// The file gets its final name once it has its header, so that a process killed before leaves
// nothing that looks like a trace.
int vprof_trace_file_make(uint64_t start_processor_ns) {
  struct vprof_trace* trace = &vprof_trace;
  // Not on the stack, which may be a small signal stack.
  static char unfinished[sizeof trace->path + 8];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(trace->path, sizeof trace->path, "%s/%d-%lld%09ld.vpt", vprof_settings.directory,
           (int)trace->pid, (long long)now.tv_sec, now.tv_nsec);
  strcpy(stpcpy(unfinished, trace->path), ".new");
  const int from = directory();
  const int fd = from == AT_FDCWD ? open(unfinished, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644)
                                  : openat(from, name_of(unfinished),
                                           O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (fd < 0) {
    return -1;
  }
  struct stat status;
  if (fstat(fd, &status) == 0 && reserve(fd) && write_header(fd, start_processor_ns) &&
      give_final_name(from, unfinished)) {
    trace->device = status.st_dev;
    trace->inode = status.st_ino;
    return fd;
  }
  unlinkat(from, from == AT_FDCWD ? unfinished : name_of(unfinished), 0);
  vprof_trace_file_unmap();
  close(fd);
  return -1;
}

// ---- ending it

// Chunks at the end of the file that the helper made ready and nobody took are not worth keeping.
static uint64_t without_spare_chunks(uint64_t end) {
  struct vprof_trace* trace = &vprof_trace;
  struct vprof_chunk_header* spare[VPROF_CHUNK_CLASSES * VPROF_POOL_SLOTS];
  unsigned spares = 0;
  for (unsigned c = 0; c < VPROF_CHUNK_CLASSES; ++c) {
    for (unsigned i = 0; i < VPROF_POOL_SLOTS; ++i) {
      struct vprof_chunk_header* chunk = atomic_exchange(&trace->pool[c][i], NULL);
      if (chunk != NULL) {
        spare[spares++] = chunk;
      }
    }
  }
  for (bool found = true; found;) {
    found = false;
    for (unsigned i = 0; i < spares && !found; ++i) {
      if ((uint64_t)((char*)spare[i] - trace->base) + spare[i]->bytes != end) {
        continue;
      }
      end -= spare[i]->bytes;
      spare[i] = spare[--spares];
      found = true;
    }
  }
  return end;
}

void vprof_trace_file_note_processor_time(void) {
  __atomic_store_n(&vprof_trace.header->processor_ns, vprof_process_processor_ns(),
                   __ATOMIC_RELAXED);
}

void vprof_trace_file_cut(uint64_t next) {
  struct vprof_trace* trace = &vprof_trace;
  vprof_trace_file_note_processor_time();
  const uint64_t end = without_spare_chunks(next);
  __atomic_store_n(&trace->header->used, end, __ATOMIC_RELEASE);
  const int from = directory();
  const int fd = openat(from, from == AT_FDCWD ? trace->path : name_of(trace->path),
                        O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) {
    return;
  }
  struct stat status;
  if (fstat(fd, &status) == 0 && status.st_dev == trace->device && status.st_ino == trace->inode) {
    if (ftruncate(fd, (off_t)end) != 0) {
      trace->path[0] = 0;  // it stays sparse
    }
  }
  close(fd);
}
