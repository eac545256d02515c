// Locks on files: flock, lockf, and fcntl with F_SETLKW.
//
// The object is the file, whatever part of it is locked. A lock is given back explicitly, or by
// closing a descriptor, so this keeps by which descriptors the process has locked anything. What a
// process gives back by its end is not recorded, nor that a lock for writing becomes one for
// reading.
#define _GNU_SOURCE
#include "system_calls/file_locks.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <unistd.h>

#include "system_calls/streams.h"

// By descriptor: the process that has locked something by it, 0: none. A child of fork has the
// entries of its parent, but not the locks.
static pid_t lockers[VPROF_DESCRIPTORS];

static bool has_entry(int fd) { return fd >= 0 && fd < VPROF_DESCRIPTORS; }

static uint64_t file_of(int fd) {
  const struct vprof_stream stream = vprof_stream_of(fd);
  return stream.kind == VPROF_STREAM_FILE ? stream.in : 0;
}

static void set_locker(int fd, pid_t pid) {
  if (has_entry(fd)) {
    __atomic_store_n(&lockers[fd], pid, __ATOMIC_RELAXED);
  }
}

static void unlock_begin(struct vprof_release* release, int fd) {
  const uint64_t file = file_of(fd);
  if (file != 0) {
    vprof_release_begin(release, VPROF_CLASS_FILE, file, true);
  }
}

void vprof_close_begin(struct vprof_release* release, int fd) {
  if (has_entry(fd) && __atomic_load_n(&lockers[fd], __ATOMIC_RELAXED) != 0) {
    if (lockers[fd] == vprof_trace.pid && vprof_sync_on(VPROF_CLASS_FILE)) {
      unlock_begin(release, fd);
    }
    set_locker(fd, 0);
  }
}

enum action { kNothing, kUnlock, kTry, kLock };  // kLock: waits for the lock

// A lock that is taken in a pause may be given back in the next recording.
#define CHANGE(change, name, ...)                                                                 \
  const struct vprof_real* real = vprof_real_functions();                                         \
  const enum action wanted = (change);                                                            \
  if (wanted == kNothing || !vprof_sync_wanted(VPROF_CLASS_FILE)) return real->name(__VA_ARGS__); \
  const bool recorded = vprof_sync_on(VPROF_CLASS_FILE);                                          \
  struct vprof_release release = {0};                                                             \
  if (wanted == kUnlock && recorded) unlock_begin(&release, fd);                                  \
  int result = 0;                                                                                 \
  if (wanted == kLock && recorded) {                                                              \
    const uint64_t file = file_of(fd);                                                            \
    VPROF_WAIT wait = vprof_call_begin(file != 0 ? VPROF_EV_WAIT_FILE_LOCK : 0, file, true);      \
    result = real->name(__VA_ARGS__);                                                             \
  } else {                                                                                        \
    result = real->name(__VA_ARGS__);                                                             \
  }                                                                                               \
  if (wanted != kUnlock && result == 0) set_locker(fd, vprof_trace.pid);                          \
  vprof_release_end(&release, VPROF_EV_RELEASE_FILE_LOCK, result);                                \
  return result

static enum action action_of_flock(int operation) {
  if ((operation & LOCK_UN) != 0) {
    return kUnlock;
  }
  return (operation & LOCK_NB) != 0 ? kTry : kLock;
}

VPROF_CANCELLABLE int flock(int fd, int operation) {
  CHANGE(action_of_flock(operation), flock, fd, operation);
}

static enum action action_of_lockf(int command) {
  switch (command) {
    case F_ULOCK:
      return kUnlock;
    case F_LOCK:
      return kLock;
    case F_TLOCK:
      return kTry;
    default:
      return kNothing;
  }
}

VPROF_CANCELLABLE int lockf(int fd, int command, off_t bytes) {
  CHANGE(action_of_lockf(command), lockf, fd, command, bytes);
}
VPROF_CANCELLABLE int lockf64(int fd, int command, off64_t bytes) {
  CHANGE(action_of_lockf(command), lockf64, fd, command, bytes);
}

static enum action action_of_fcntl(int command, const void* argument) {
  const bool tries = command == F_SETLK || command == F_OFD_SETLK;
  const bool waits = command == F_SETLKW || command == F_OFD_SETLKW;
  if ((!tries && !waits) || argument == NULL) {
    return kNothing;
  }
  if (((const struct flock*)argument)->l_type == F_UNLCK) {
    return kUnlock;
  }
  return tries ? kTry : kLock;
}

// The kernel takes a number or a pointer, which libc passes on as a pointer.
#define FCNTL(name)                     \
  va_list more;                         \
  va_start(more, command);              \
  void* argument = va_arg(more, void*); \
  va_end(more);                         \
  if (command == F_SETFL) {             \
    vprof_stream_flags_change(fd);      \
  }                                     \
  CHANGE(action_of_fcntl(command, argument), name, fd, command, argument)

VPROF_CANCELLABLE int fcntl(int fd, int command, ...) { FCNTL(fcntl); }
VPROF_CANCELLABLE int fcntl64(int fd, int command, ...) { FCNTL(fcntl64); }
