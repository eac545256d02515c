// Calls that only files have: reading and writing at a position, and syncing.
//
// Nobody ends such a wait, and what the descriptor refers to need not be asked. Servers open a file
// for each request and read it by one pread.
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"

enum { kLeastUs = 5 };

struct file_call {
  uint64_t start;
  uint64_t name;  // enum vprof_file_call
};

static void file_call_end(const struct file_call* call) {
  const uint64_t now = vprof_ticks();
  const bool waited = now - call->start >= vprof_ticks_per_second / 1000000 * kLeastUs;
  if (waited) {
    const int errno_before = errno;
    const struct vprof_wait wait = {.start = call->start,
                                    .aux = call->name << VPROF_AUX_SYNC_SHIFT,
                                    .event = VPROF_EV_WAIT_FILE};
    vprof_wait_write(&wait, now);
    errno = errno_before;
  }
  vprof_wait_over(now - call->start, waited ? VPROF_WAITED_OFTEN : VPROF_WAITED_UNRECORDED);
}

#define FILE_CALL(call_name)  \
  const struct file_call call \
      __attribute__((cleanup(file_call_end))) = {vprof_event_time(), VPROF_FILE_##call_name}

#define FILE_ONLY(call_name, name, ...)                                 \
  const struct vprof_real* real = vprof_real_functions();               \
  if (real->name == NULL) return errno = ENOSYS, -1;                    \
  if (!vprof_sync_on(VPROF_CLASS_FILE)) return real->name(__VA_ARGS__); \
  FILE_CALL(call_name);                                                 \
  return real->name(__VA_ARGS__)

VPROF_CANCELLABLE ssize_t pread(int fd, void* to, size_t n, off_t at) {
  FILE_ONLY(PREAD, pread, fd, to, n, at);
}
VPROF_CANCELLABLE ssize_t pread64(int fd, void* to, size_t n, off_t at) {
  FILE_ONLY(PREAD, pread64, fd, to, n, at);
}
VPROF_CANCELLABLE ssize_t preadv(int fd, const struct iovec* to, int n, off_t at) {
  FILE_ONLY(PREADV, preadv, fd, to, n, at);
}

// NOLINTBEGIN(readability-identifier-naming): libc's names
// Called by programs built with _FORTIFY_SOURCE.
#define CHECKED(name, parameters)            \
  VPROF_CANCELLABLE ssize_t name parameters; \
  VPROF_CANCELLABLE ssize_t name parameters
CHECKED(__pread_chk, (int fd, void* to, size_t n, off_t at, size_t room)) {
  FILE_ONLY(PREAD, __pread_chk, fd, to, n, at, room);
}
CHECKED(__pread64_chk, (int fd, void* to, size_t n, off_t at, size_t room)) {
  FILE_ONLY(PREAD, __pread64_chk, fd, to, n, at, room);
}
// NOLINTEND(readability-identifier-naming)

VPROF_CANCELLABLE ssize_t pwrite(int fd, const void* from, size_t n, off_t at) {
  FILE_ONLY(PWRITE, pwrite, fd, from, n, at);
}
VPROF_CANCELLABLE ssize_t pwrite64(int fd, const void* from, size_t n, off_t at) {
  FILE_ONLY(PWRITE, pwrite64, fd, from, n, at);
}
VPROF_CANCELLABLE ssize_t pwritev(int fd, const struct iovec* from, int n, off_t at) {
  FILE_ONLY(PWRITEV, pwritev, fd, from, n, at);
}

VPROF_CANCELLABLE int fsync(int fd) { FILE_ONLY(FSYNC, fsync, fd); }
VPROF_CANCELLABLE int fdatasync(int fd) { FILE_ONLY(FDATASYNC, fdatasync, fd); }
VPROF_CANCELLABLE int msync(void* from, size_t n, int flags) {
  FILE_ONLY(MSYNC, msync, from, n, flags);
}

// ---- by number

static uint32_t numbered_call(long number) {
  switch (number) {
    case SYS_pread64:
      return VPROF_FILE_PREAD;
    case SYS_preadv:
      return VPROF_FILE_PREADV;
    case SYS_pwrite64:
      return VPROF_FILE_PWRITE;
    case SYS_pwritev:
      return VPROF_FILE_PWRITEV;
    case SYS_fsync:
      return VPROF_FILE_FSYNC;
    default:
      return VPROF_FILE_FDATASYNC;
  }
}

long vprof_raw_file(long number, const long* a) {
  if (!vprof_sync_on(VPROF_CLASS_FILE)) {
    return vprof_raw_call(number, a);
  }
  const struct file_call call
      __attribute__((cleanup(file_call_end))) = {vprof_event_time(), numbered_call(number)};
  return vprof_raw_call(number, a);
}
