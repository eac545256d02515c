#define _GNU_SOURCE
#include "system_calls/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#include "base/raw_syscall.h"
#include "base/settings.h"
#include "interpose/interpose.h"
#include "system_calls/objects.h"

static struct vprof_stream known[VPROF_DESCRIPTORS];

// Of how many more short calls it is taken for granted that the descriptor does not block. The
// program may change that, by ioctl() and in other processes too, and most calls of a server are
// short.
enum { kTaken = 15 };
static unsigned char not_blocking[VPROF_DESCRIPTORS];

// Only the port counts: a listener may be bound to all addresses.
uint64_t vprof_stream_address(const struct sockaddr* address, socklen_t bytes) {
  if (address == NULL || bytes < sizeof(sa_family_t)) {
    return 0;
  }
  if (address->sa_family == AF_INET && bytes >= sizeof(struct sockaddr_in)) {
    return vprof_object_port(AF_INET, ((const struct sockaddr_in*)address)->sin_port);
  }
  if (address->sa_family == AF_INET6 && bytes >= sizeof(struct sockaddr_in6)) {
    return vprof_object_port(AF_INET, ((const struct sockaddr_in6*)address)->sin6_port);
  }
  if (address->sa_family != AF_UNIX || bytes <= offsetof(struct sockaddr_un, sun_path)) {
    return 0;
  }
  const char* path = ((const struct sockaddr_un*)address)->sun_path;
  size_t length = bytes - offsetof(struct sockaddr_un, sun_path);
  while (length > 1 && path[length - 1] == 0) {
    --length;
  }
  return vprof_object_mix_bytes(vprof_object_mix(VPROF_OBJECT_LISTENER, AF_UNIX), path, length);
}

uint64_t vprof_stream_signals(uint64_t pid) { return vprof_object_signals(pid); }

static uint64_t flow(const struct sockaddr_storage* from, socklen_t from_bytes,
                     const struct sockaddr_storage* to, socklen_t to_bytes) {
  return vprof_object_mix_bytes(vprof_object_mix_bytes(VPROF_OBJECT_FLOW, from, from_bytes), to,
                                to_bytes);
}

// What a descriptor refers to.
//
// Why not fstat(). That asks for the file's times too. Since Linux 6.13 a kernel that was asked
// gives the next write a distinct time, so every fdatasync() of a file that is written all the time
// also writes the inode. PostgreSQL's TPC-B lost a tenth of its throughput to that.
struct vprof_file {
  uint64_t number;
  uint64_t device;
  uint16_t mode;
};

static bool ask_file(int fd, struct vprof_file* file) {
  if (vprof_confined()) {
    return false;  // the filter may not allow it
  }
  struct statx answer = {0};
  vprof_count_own_call();
  const long result = vprof_syscall(SYS_statx, fd, (long)"", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
                                    STATX_TYPE | STATX_INO, (long)&answer, 0);
  if (result == 0) {
    *file = (struct vprof_file){answer.stx_ino,
                                (uint64_t)answer.stx_dev_major << 32 | answer.stx_dev_minor,
                                answer.stx_mode};
    return true;
  }
  if (result != -ENOSYS && result != -EPERM) {
    return false;
  }
  // An old kernel, or a sandbox.
  struct stat status = {0};
  const int errno_before = errno;
  const int failed = fstat(fd, &status);
  errno = errno_before;
  *file = (struct vprof_file){status.st_ino,
                              (uint64_t)major(status.st_dev) << 32 | minor(status.st_dev),
                              (uint16_t)status.st_mode};
  return failed == 0;
}

static struct vprof_stream ask_socket(int fd, const struct vprof_file* file) {
  struct vprof_stream stream = {0, 0, VPROF_STREAM_FLOW, 1, 0};
  struct sockaddr_storage local = {0};
  struct sockaddr_storage peer = {0};
  socklen_t local_bytes = sizeof local;
  socklen_t peer_bytes = sizeof peer;
  vprof_count_own_call();
  if (vprof_syscall(SYS_getsockname, fd, (long)&local, (long)&local_bytes, 0, 0, 0) != 0) {
    return stream;
  }
  const bool connected =
      vprof_syscall(SYS_getpeername, fd, (long)&peer, (long)&peer_bytes, 0, 0, 0) == 0;
  if (connected) {
    stream.socket = file->number;
  }
  if (!connected) {
    stream.in = vprof_stream_address((struct sockaddr*)&local, local_bytes);
  } else if (local.ss_family == AF_UNIX) {
    // Only one end has a name, which does not say which of its connections this is.
    stream.in = vprof_object_file(file->device, file->number);
  } else {
    stream.in = flow(&peer, peer_bytes, &local, local_bytes);
    stream.out = flow(&local, local_bytes, &peer, peer_bytes);
  }
  return stream;
}

// `before`: the previous answer.
static struct vprof_stream ask(int fd, const struct vprof_stream* before) {
  struct vprof_stream stream = {0, 0, VPROF_STREAM_OTHER, 0, 0};
  struct vprof_file file;
  if (fd < 0 || !ask_file(fd, &file)) {
    return stream;
  }
  if (S_ISSOCK(file.mode)) {
    return before->socket == file.number ? *before : ask_socket(fd, &file);
  }
  if (S_ISFIFO(file.mode)) {
    stream.in = stream.out = vprof_object_file(file.device, file.number);
    stream.kind = VPROF_STREAM_FLOW;
    stream.shared = 1;
  } else if (S_ISREG(file.mode) || S_ISDIR(file.mode) || S_ISBLK(file.mode)) {
    stream.in = stream.out = vprof_object_file(file.device, file.number);
    stream.kind = VPROF_STREAM_FILE;
    stream.shared = 1;
  } else if ((file.mode & S_IFMT) == 0) {  // no type: eventfd and the like
    stream.in = stream.out = vprof_object_number((uint64_t)fd);
    stream.kind = VPROF_STREAM_FLOW;
  }
  return stream;
}

static void set_not_blocking(int fd, unsigned char taken) {
  if (fd >= 0 && fd < VPROF_DESCRIPTORS) {
    __atomic_store_n(&not_blocking[fd], taken, __ATOMIC_RELAXED);
  }
}

void vprof_stream_flags_change(int fd) { set_not_blocking(fd, 0); }

bool vprof_stream_never_blocks(int fd, bool is_short) {
  if (is_short && fd >= 0 && fd < VPROF_DESCRIPTORS) {
    const unsigned char taken = __atomic_load_n(&not_blocking[fd], __ATOMIC_RELAXED);
    if (taken != 0) {
      set_not_blocking(fd, (unsigned char)(taken - 1));
      return true;
    }
  }
  if (vprof_confined()) {
    return false;  // the filter may not allow it
  }
  vprof_count_own_call();
  const long flags = vprof_syscall(SYS_fcntl, fd, F_GETFL, 0, 0, 0, 0);
  const bool never = flags >= 0 && (flags & O_NONBLOCK) != 0;
  set_not_blocking(fd, never ? kTaken : 0);
  return never;
}

// Threads that race here store the same values, unless one uses a descriptor that another closes.
void vprof_stream_set(int fd, struct vprof_stream stream) {
  if (fd < 0 || fd >= VPROF_DESCRIPTORS) {
    return;
  }
  vprof_stream_flags_change(fd);
  struct vprof_stream* entry = &known[fd];
  __atomic_store_n(&entry->kind, VPROF_STREAM_UNKNOWN, __ATOMIC_RELEASE);
  __atomic_store_n(&entry->in, stream.in, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->out, stream.out, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->shared, stream.shared, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->socket, stream.socket, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->kind, stream.kind, __ATOMIC_RELEASE);
}

void vprof_stream_forget(int fd) {
  vprof_stream_flags_change(fd);
  if (fd >= 0 && fd < VPROF_DESCRIPTORS && known[fd].kind != VPROF_STREAM_UNKNOWN) {
    __atomic_store_n(&known[fd].kind, VPROF_STREAM_UNKNOWN, __ATOMIC_RELEASE);
  }
}

struct vprof_stream vprof_stream_of(int fd) {
  const struct vprof_stream nothing = {0, 0, VPROF_STREAM_UNKNOWN, 0, 0};
  if (fd >= 0 && fd < VPROF_DESCRIPTORS) {
    const struct vprof_stream* entry = &known[fd];
    struct vprof_stream stream;
    stream.kind = __atomic_load_n(&entry->kind, __ATOMIC_ACQUIRE);
    stream.in = __atomic_load_n(&entry->in, __ATOMIC_RELAXED);
    stream.out = __atomic_load_n(&entry->out, __ATOMIC_RELAXED);
    stream.shared = __atomic_load_n(&entry->shared, __ATOMIC_RELAXED);
    stream.socket = __atomic_load_n(&entry->socket, __ATOMIC_RELAXED);
    if (stream.kind != VPROF_STREAM_UNKNOWN) {
      return stream;
    }
  }
  const struct vprof_stream stream = ask(fd, &nothing);
  vprof_stream_set(fd, stream);
  return stream;
}

// The kernel cannot be asked for what signalfd(), timerfd_create() and socketpair() have entered.
struct vprof_stream vprof_stream_checked(int fd) {
  const struct vprof_stream now = vprof_stream_of(fd);
  if (now.kind == VPROF_STREAM_TIMER || now.kind == VPROF_STREAM_SIGNAL) {
    return now;
  }
  const struct vprof_stream asked = ask(fd, &now);
  if (now.socket != 0 && asked.socket == now.socket) {
    return now;
  }
  if (asked.kind == now.kind && now.out != 0 && asked.out == 0) {
    return now;
  }
  vprof_stream_set(fd, asked);
  return asked;
}
