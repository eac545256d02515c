// Reading and writing: pipes, sockets, eventfd, files. Calls that only files have are in
// file_calls.c.
//
// A reader cannot know what it waits for without a system call. So it only says that it may wait,
// and asks after a wait of 5 us or more. A writer checks whether anybody may be waiting; if not, it
// asks and records nothing. What libc's FILE functions do internally is not seen.
#define _GNU_SOURCE
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"
#include "system_calls/streams.h"

// glibc declares address arguments as unions of pointers in C.
#ifdef __SOCKADDR_ARG
#define PLAIN(address) ((address).__sockaddr__)
#else
#define __SOCKADDR_ARG struct sockaddr*
#define __CONST_SOCKADDR_ARG const struct sockaddr*
#define PLAIN(address) (address)
#endif

enum { kAnyClass = VPROF_CLASS_STREAM | VPROF_CLASS_FILE | VPROF_CLASS_SIGNAL | VPROF_CLASS_TIMER };
enum { kReadUs = 5, kShortUs = 50 };  // over loopback the receiver's work may run within the send

// ---- waiting

struct vprof_call {
  uint64_t start;
  int fd;
  bool sends;
  bool never_waits;            // MSG_DONTWAIT, or the descriptor does not block; false: not known
  uint32_t name;               // enum vprof_file_call
  struct vprof_waiters* full;  // where a sender is counted; NULL: nowhere
  bool gave_up;                // after a time limit of the socket
};

static uint32_t wait_event(const struct vprof_stream* stream, bool sends) {
  const uint32_t classes = vprof_settings.classes;
  switch (stream->kind) {
    case VPROF_STREAM_FILE:
      return (classes & VPROF_CLASS_FILE) != 0 ? VPROF_EV_WAIT_FILE : 0;
    case VPROF_STREAM_TIMER:
      return (classes & VPROF_CLASS_TIMER) != 0 ? VPROF_EV_WAIT_TIMER : 0;
    case VPROF_STREAM_SIGNAL:
      return (classes & VPROF_CLASS_SIGNAL) != 0 ? VPROF_EV_WAIT_SIGNAL : 0;
    default:
      if ((classes & VPROF_CLASS_STREAM) == 0) {
        return 0;
      }
      return sends ? VPROF_EV_WAIT_SEND : VPROF_EV_WAIT_STREAM;
  }
}

// Such a call that takes long copies a lot, or its thread has lost the processor: to the reader
// that it has woken, for example.
static bool never_waits(struct vprof_call* call, bool is_short) {
  if (!call->never_waits) {
    call->never_waits = vprof_stream_never_blocks(call->fd, is_short);
  }
  return call->never_waits;
}

static bool is_short_call(uint64_t took) {
  return took < vprof_ticks_per_second / 1000000 * kShortUs;
}

// Returns the event; 0: too short to record, or not wanted.
static uint32_t write_wait(struct vprof_call* call, uint64_t now) {
  const uint64_t took = now - call->start;
  if (took < vprof_ticks_per_second / 1000000 * kReadUs) {
    return 0;
  }
  // Servers send often, and waking the receiver takes some microseconds, so after a short send the
  // table must do. It must do, too, where the call cannot have waited: servers read what epoll_wait
  // has reported, and lose the processor in every other such call.
  const bool short_send = call->sends && is_short_call(took);
  const struct vprof_stream listed = vprof_stream_of(call->fd);
  const bool flows = listed.kind == VPROF_STREAM_FLOW;
  if (flows && (short_send || wait_event(&listed, call->sends) == 0 ||
                never_waits(call, is_short_call(took)))) {
    return 0;
  }
  const int errno_before = errno;
  const struct vprof_stream stream = short_send ? listed : vprof_stream_checked(call->fd);
  uint32_t event = wait_event(&stream, call->sends);
  if (short_send && event == VPROF_EV_WAIT_SEND) {
    event = 0;
  }
  if (!flows && (event == VPROF_EV_WAIT_SEND || event == VPROF_EV_WAIT_STREAM) &&
      never_waits(call, false)) {
    event = 0;
  }
  if (event != 0) {
    const uint64_t shared = stream.shared != 0 ? VPROF_AUX_SHARED : 0;
    const uint64_t name = event == VPROF_EV_WAIT_FILE ? call->name : VPROF_FILE_OTHER;
    const struct vprof_wait wait = {
        .start = call->start,
        .object = call->sends ? stream.out : stream.in,
        .aux = shared | name << VPROF_AUX_SYNC_SHIFT | (call->gave_up ? VPROF_AUX_TIMED_OUT : 0),
        .event = event};
    vprof_wait_write(&wait, now);
  }
  errno = errno_before;
  return event;
}

static enum vprof_waited how_it_waited(struct vprof_call* call, uint64_t took, uint32_t event) {
  if (event != 0) {
    return event == VPROF_EV_WAIT_FILE ? VPROF_WAITED_OFTEN : VPROF_WAITED_ONCE;
  }
  // Only who has lost the processor wants to know. In a longer call it may have been for a page of
  // what is sent, for example, so the kernel is asked.
  const bool never = vprof_lost_processor() && is_short_call(took) &&
                     vprof_stream_of(call->fd).kind == VPROF_STREAM_FLOW && never_waits(call, true);
  return never ? VPROF_WAITED_NEVER : VPROF_WAITED_UNRECORDED;
}

// Whether the call gave up after a time limit: the socket's (SO_RCVTIMEO, SO_SNDTIMEO), which
// connect reports as EINPROGRESS, or that of the connection. `result`: as of vprof_call_result.
static bool gave_up(long result) {
  return result == -1 && (errno == EAGAIN || errno == ETIMEDOUT || errno == EINPROGRESS);
}

static void call_end(struct vprof_call* call) {
  const uint64_t now = vprof_ticks();
  if (!call->sends) {
    atomic_fetch_sub(vprof_blocked_on_streams(), 1);
  } else if (call->full != NULL) {
    atomic_fetch_sub(&call->full->count, 1);
  }
  const uint32_t event = write_wait(call, now);
  const uint64_t took = now - call->start;
  vprof_wait_over(took, how_it_waited(call, took, event));
}

#define CALL __attribute__((cleanup(call_end))) struct vprof_call
// `flags`: of recv, send and their like.
static struct vprof_call read_begin(int fd, uint32_t name, long flags) {
  const struct vprof_call call = {.start = vprof_event_time(),
                                  .fd = fd,
                                  .never_waits = (flags & MSG_DONTWAIT) != 0,
                                  .name = name};
  atomic_fetch_add(vprof_blocked_on_streams(), 1);
  return call;
}

// Whoever takes bytes out makes room for a writer.
struct vprof_room {
  struct vprof_release release;
  bool made;
};

static struct vprof_room room_begin(int fd) {
  struct vprof_room room = {{0}, false};
  if ((vprof_settings.classes & VPROF_CLASS_STREAM) == 0) {
    return room;
  }
  const struct vprof_stream stream = vprof_stream_of(fd);
  if (stream.kind == VPROF_STREAM_FLOW && stream.in != 0) {
    vprof_release_begin(&room.release, VPROF_CLASS_STREAM, stream.in, stream.shared != 0);
    if (room.release.time == 0 && room.release.waiters != NULL &&
        atomic_load_explicit(vprof_blocked_for_room(), memory_order_relaxed) != 0) {
      vprof_release_take(&room.release);
    }
  }
  return room;
}

static void room_end(struct vprof_room* room) {
  if (room->made) {
    vprof_release_end(&room->release, VPROF_EV_RELEASE_SEND, 0);
  }
}

// The call ends first: its wait comes before the release in the trace.
#define READ_BYTES(done, type, failure, call_name, flags, name, ...)               \
  const struct vprof_real* real = vprof_real_functions();                          \
  if (real->name == NULL) return errno = ENOSYS, failure;                          \
  if (!vprof_sync_on(kAnyClass)) return real->name(__VA_ARGS__);                   \
  struct vprof_room made_room __attribute__((cleanup(room_end))) = room_begin(fd); \
  CALL call = read_begin(fd, VPROF_FILE_##call_name, flags);                       \
  const type result = real->name(__VA_ARGS__);                                     \
  call.gave_up = gave_up(result);                                                  \
  made_room.made = done;                                                           \
  return result
#define READ(call_name, name, ...) \
  READ_BYTES(result > 0, ssize_t, -1, call_name, 0, name, __VA_ARGS__)
#define RECEIVE(name, ...) READ_BYTES(result > 0, ssize_t, -1, OTHER, flags, name, __VA_ARGS__)
#define ACCEPT(name, ...) READ_BYTES(false, int, -1, OTHER, 0, name, __VA_ARGS__)

// ---- waking

static void wake_begin(struct vprof_release* release, uint64_t object, bool shared) {
  if (object == 0) {
    return;
  }
  release->waiters = vprof_waiters_of(object);
  release->object = object;
  release->aux = shared ? VPROF_AUX_SHARED : 0;
  vprof_release_take(release);
}

// waiters == NULL: nobody can be waiting.
static struct vprof_release write_begin(int fd) {
  struct vprof_release release = {0};
  if ((vprof_settings.classes & VPROF_CLASS_STREAM) != 0 &&
      atomic_load(vprof_blocked_on_streams()) != 0) {
    const struct vprof_stream stream = vprof_stream_of(fd);
    if (stream.kind == VPROF_STREAM_FLOW) {
      wake_begin(&release, stream.out, stream.shared != 0);
    }
  }
  return release;
}

static struct vprof_call send_begin(int fd, uint32_t name, long flags) {
  struct vprof_call call = {.start = vprof_event_time(),
                            .fd = fd,
                            .sends = true,
                            .never_waits = (flags & MSG_DONTWAIT) != 0,
                            .name = name};
  if ((vprof_settings.classes & VPROF_CLASS_STREAM) == 0) {
    return call;
  }
  const struct vprof_stream stream = vprof_stream_of(fd);
  if (stream.kind == VPROF_STREAM_FLOW && stream.out != 0) {
    call.full = vprof_waiters_of(stream.out);
    atomic_fetch_add(&call.full->count, 1);
  }
  return call;
}

static void write_end(const struct vprof_release* release, bool done) {
  if (release->waiters != NULL && done) {
    vprof_release_write(release, VPROF_EV_RELEASE_STREAM, 0);
  }
}

#define WRITE_BYTES(type, call_name, flags, name, ...)           \
  const struct vprof_real* real = vprof_real_functions();        \
  if (real->name == NULL) return errno = ENOSYS, -1;             \
  if (!vprof_sync_on(kAnyClass)) return real->name(__VA_ARGS__); \
  const struct vprof_release release = write_begin(fd);          \
  type result = 0;                                               \
  {                                                              \
    CALL call = send_begin(fd, VPROF_FILE_##call_name, flags);   \
    result = real->name(__VA_ARGS__);                            \
    call.gave_up = gave_up(result);                              \
  }                                                              \
  write_end(&release, result >= 0);                              \
  return result
#define WRITE(type, call_name, name, ...) WRITE_BYTES(type, call_name, 0, name, __VA_ARGS__)
#define SEND(name, ...) WRITE_BYTES(ssize_t, OTHER, flags, name, __VA_ARGS__)

// ---- the functions

VPROF_CANCELLABLE ssize_t read(int fd, void* to, size_t n) { READ(READ, read, fd, to, n); }
VPROF_CANCELLABLE ssize_t readv(int fd, const struct iovec* to, int n) {
  READ(READV, readv, fd, to, n);
}
VPROF_CANCELLABLE ssize_t recv(int fd, void* to, size_t n, int flags) {
  RECEIVE(recv, fd, to, n, flags);
}
VPROF_CANCELLABLE ssize_t recvfrom(int fd, void* restrict to, size_t n, int flags,
                                   __SOCKADDR_ARG from, socklen_t* restrict bytes) {
  RECEIVE(recvfrom, fd, to, n, flags, PLAIN(from), bytes);
}
VPROF_CANCELLABLE ssize_t recvmsg(int fd, struct msghdr* to, int flags) {
  RECEIVE(recvmsg, fd, to, flags);
}
VPROF_CANCELLABLE int eventfd_read(int fd, eventfd_t* to) {
  READ_BYTES(result == 0, int, -1, OTHER, 0, eventfd_read, fd, to);
}

// NOLINTBEGIN(readability-identifier-naming): libc's names
// Called by programs built with _FORTIFY_SOURCE.
#define CHECKED(name, parameters)            \
  VPROF_CANCELLABLE ssize_t name parameters; \
  VPROF_CANCELLABLE ssize_t name parameters
CHECKED(__read_chk, (int fd, void* to, size_t n, size_t room)) {
  READ(READ, __read_chk, fd, to, n, room);
}
CHECKED(__recv_chk, (int fd, void* to, size_t n, size_t room, int flags)) {
  RECEIVE(__recv_chk, fd, to, n, room, flags);
}
CHECKED(__recvfrom_chk, (int fd, void* to, size_t n, size_t room, int flags, struct sockaddr* from,
                         socklen_t* bytes)) {
  RECEIVE(__recvfrom_chk, fd, to, n, room, flags, from, bytes);
}
// NOLINTEND(readability-identifier-naming)

// If libc itself closed the previous descriptor of this number, the table still has it.
static int accepted(int fd) {
  if (fd >= 0) {
    vprof_stream_forget(fd);
  }
  return fd;
}
static int accept_timed(int fd, struct sockaddr* from, socklen_t* bytes) {
  ACCEPT(accept, fd, from, bytes);
}
static int accept4_timed(int fd, struct sockaddr* from, socklen_t* bytes, int flags) {
  ACCEPT(accept4, fd, from, bytes, flags);
}
VPROF_CANCELLABLE int accept(int fd, __SOCKADDR_ARG from, socklen_t* restrict bytes) {
  return accepted(accept_timed(fd, PLAIN(from), bytes));
}
VPROF_CANCELLABLE int accept4(int fd, __SOCKADDR_ARG from, socklen_t* restrict bytes, int flags) {
  return accepted(accept4_timed(fd, PLAIN(from), bytes, flags));
}

VPROF_CANCELLABLE ssize_t write(int fd, const void* from, size_t n) {
  WRITE(ssize_t, WRITE, write, fd, from, n);
}
VPROF_CANCELLABLE ssize_t writev(int fd, const struct iovec* from, int n) {
  WRITE(ssize_t, WRITEV, writev, fd, from, n);
}
VPROF_CANCELLABLE ssize_t send(int fd, const void* from, size_t n, int flags) {
  SEND(send, fd, from, n, flags);
}
VPROF_CANCELLABLE ssize_t sendto(int fd, const void* from, size_t n, int flags,
                                 __CONST_SOCKADDR_ARG to, socklen_t bytes) {
  SEND(sendto, fd, from, n, flags, PLAIN(to), bytes);
}
VPROF_CANCELLABLE ssize_t sendmsg(int fd, const struct msghdr* from, int flags) {
  SEND(sendmsg, fd, from, flags);
}
VPROF_CANCELLABLE int eventfd_write(int fd, eventfd_t value) {
  WRITE(int, OTHER, eventfd_write, fd, value);
}
VPROF_CANCELLABLE int connect(int fd, __CONST_SOCKADDR_ARG address, socklen_t bytes) {
  const struct sockaddr* to = PLAIN(address);
  const struct vprof_real* real = vprof_real_functions();
  if (!vprof_sync_on(VPROF_CLASS_STREAM)) {
    const int result = real->connect(fd, to, bytes);
    vprof_stream_forget(fd);
    return result;
  }
  vprof_stream_forget(fd);
  struct vprof_release release = {0};
  if (atomic_load(vprof_blocked_on_streams()) != 0) {
    wake_begin(&release, vprof_stream_address(to, bytes), true);
  }
  int result = 0;
  {
    CALL call = {.start = vprof_event_time(), .fd = fd, .sends = true, .name = VPROF_FILE_OTHER};
    result = real->connect(fd, to, bytes);
    call.gave_up = gave_up(result);
  }
  vprof_stream_forget(fd);
  const int errno_before = errno;
  write_end(&release, result == 0 || errno_before == EINPROGRESS);
  return result;
}

// ---- by number

static uint32_t numbered_call(long number) {
  switch (number) {
    case SYS_read:
      return VPROF_FILE_READ;
    case SYS_readv:
      return VPROF_FILE_READV;
    case SYS_write:
      return VPROF_FILE_WRITE;
    case SYS_writev:
      return VPROF_FILE_WRITEV;
    default:
      return VPROF_FILE_OTHER;
  }
}

static long numbered_flags(long number, const long* a) {
  switch (number) {
    case SYS_recvfrom:
    case SYS_sendto:
      return a[3];
    case SYS_recvmsg:
    case SYS_sendmsg:
      return a[2];
    default:
      return 0;
  }
}

long vprof_raw_read(long number, const long* a) {
  if (!vprof_sync_on(kAnyClass)) {
    return vprof_raw_call(number, a);
  }
  const bool accepts = number == SYS_accept || number == SYS_accept4;
  struct vprof_room made_room __attribute__((cleanup(room_end))) = room_begin((int)a[0]);
  CALL call = read_begin((int)a[0], numbered_call(number), numbered_flags(number, a));
  const long result = vprof_raw_call(number, a);
  call.gave_up = gave_up(result);
  made_room.made = result > 0 && !accepts;
  return accepts ? accepted((int)result) : result;
}

long vprof_raw_write(long number, const long* a) {
  if (!vprof_sync_on(kAnyClass)) {
    return vprof_raw_call(number, a);
  }
  const struct vprof_release release = write_begin((int)a[0]);
  long result = 0;
  {
    CALL call = send_begin((int)a[0], numbered_call(number), numbered_flags(number, a));
    result = vprof_raw_call(number, a);
    call.gave_up = gave_up(result);
  }
  write_end(&release, result >= 0);
  return result;
}
