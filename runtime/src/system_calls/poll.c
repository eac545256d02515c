// Waiting for several descriptors at once. The wait is for the first one that turns out to be
// ready.
#define _GNU_SOURCE
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"
#include "system_calls/streams.h"

enum { kNone = -1, kLeastUs = 5 };

struct vprof_poll_call {
  uint64_t start;
  int ready;  // descriptor; kNone: timed out, interrupted, or not known
  bool timed_out;
};

static void write_wait(const struct vprof_poll_call* call, uint64_t now) {
  const int errno_before = errno;
  struct vprof_stream stream = {0, 0, VPROF_STREAM_UNKNOWN, 0, 0};
  if (call->ready != kNone) {
    stream = vprof_stream_checked(call->ready);
  }
  uint32_t event = VPROF_EV_WAIT_POLL;
  if (call->timed_out || stream.kind == VPROF_STREAM_TIMER) {
    event = VPROF_EV_WAIT_TIMER;
  }
  if (stream.kind == VPROF_STREAM_SIGNAL) {
    event = VPROF_EV_WAIT_SIGNAL;
  }
  vprof_wait_write(event, call->start, now, stream.in, stream.shared != 0);
  errno = errno_before;
}

static void call_end(struct vprof_poll_call* call) {
  const uint64_t now = vprof_ticks();
  atomic_fetch_sub(vprof_blocked_on_streams(), 1);
  const bool waited = now - call->start >= vprof_ticks_per_second / 1000000 * kLeastUs;
  if (waited) {
    write_wait(call, now);
  }
  vprof_wait_over(now - call->start, waited, false);
}

#define CALL __attribute__((cleanup(call_end))) struct vprof_poll_call
static struct vprof_poll_call call_begin(void) {
  const struct vprof_poll_call call = {vprof_event_time(), kNone, false};
  atomic_fetch_add(vprof_blocked_on_streams(), 1);
  return call;
}

#define POLL(ready_descriptor, name, ...)                                 \
  const struct vprof_real* real = vprof_real_functions();                 \
  if (real->name == NULL) return errno = ENOSYS, -1;                      \
  if (!vprof_sync_on(VPROF_CLASS_STREAM)) return real->name(__VA_ARGS__); \
  CALL call = call_begin();                                               \
  const int result = real->name(__VA_ARGS__);                             \
  call.timed_out = result == 0;                                           \
  if (result > 0) call.ready = ready_descriptor;                          \
  return result

static int first_polled(const struct pollfd* fds, nfds_t n) {
  for (nfds_t i = 0; i < n; ++i) {
    if (fds[i].fd >= 0 && fds[i].revents != 0) {
      return fds[i].fd;
    }
  }
  return kNone;
}

VPROF_CANCELLABLE int poll(struct pollfd* fds, nfds_t n, int limit) {
  POLL(first_polled(fds, n), poll, fds, n, limit);
}
VPROF_CANCELLABLE int ppoll(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                            const sigset_t* mask) {
  POLL(first_polled(fds, n), ppoll, fds, n, limit, mask);
}
// NOLINTBEGIN(readability-identifier-naming): libc's names
VPROF_CANCELLABLE int __poll_chk(struct pollfd* fds, nfds_t n, int limit, size_t room);
VPROF_CANCELLABLE int __poll_chk(struct pollfd* fds, nfds_t n, int limit, size_t room) {
  POLL(first_polled(fds, n), __poll_chk, fds, n, limit, room);
}
VPROF_CANCELLABLE int __ppoll_chk(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                                  const sigset_t* mask, size_t room);
VPROF_CANCELLABLE int __ppoll_chk(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                                  const sigset_t* mask, size_t room) {
  POLL(first_polled(fds, n), __ppoll_chk, fds, n, limit, mask, room);
}
// NOLINTEND(readability-identifier-naming)

static int first_selected(int n, const fd_set* readable, const fd_set* writable) {
  const size_t bits = 8 * sizeof(long);
  for (int fd = 0; fd < n; ++fd) {  // sets may be larger than an fd_set
    const size_t word = (size_t)fd / bits;
    const unsigned long bit = 1ul << (size_t)fd % bits;
    if ((readable != NULL && (((const unsigned long*)readable)[word] & bit) != 0) ||
        (writable != NULL && (((const unsigned long*)writable)[word] & bit) != 0)) {
      return fd;
    }
  }
  return kNone;
}

VPROF_CANCELLABLE int select(int n, fd_set* readable, fd_set* writable, fd_set* excepted,
                             struct timeval* limit) {
  POLL(first_selected(n, readable, writable), select, n, readable, writable, excepted, limit);
}
VPROF_CANCELLABLE int pselect(int n, fd_set* readable, fd_set* writable, fd_set* excepted,
                              const struct timespec* limit, const sigset_t* mask) {
  POLL(first_selected(n, readable, writable), pselect, n, readable, writable, excepted, limit,
       mask);
}

// ---- epoll returns only the user's data, so a table maps that to the descriptor

enum { kDataBits = 12 };
struct vprof_epoll_entry {
  uint64_t key;
  uint64_t fd;
};
static struct vprof_epoll_entry epoll_entries[1 << kDataBits];

static uint64_t key_of(int epoll, uint64_t data) {
  return (data ^ (uint64_t)(uint32_t)epoll << 40) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static void keep(int epoll, uint64_t data, int fd) {
  const uint64_t key = key_of(epoll, data);
  struct vprof_epoll_entry* entry = &epoll_entries[key >> (64 - kDataBits)];
  __atomic_store_n(&entry->key, 0, __ATOMIC_RELEASE);
  __atomic_store_n(&entry->fd, (uint64_t)fd, __ATOMIC_RELAXED);
  __atomic_store_n(&entry->key, key, __ATOMIC_RELEASE);
}

static int kept(int epoll, const struct epoll_event* event) {
  const uint64_t key = key_of(epoll, event->data.u64);
  const struct vprof_epoll_entry* entry = &epoll_entries[key >> (64 - kDataBits)];
  if (__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) != key) {
    return kNone;
  }
  const int fd = (int)__atomic_load_n(&entry->fd, __ATOMIC_RELAXED);
  return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key ? fd : kNone;
}

VPROF_RT_API int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) {
  const int result = vprof_real_functions()->epoll_ctl(epoll, operation, fd, event);
  if (result == 0 && operation != EPOLL_CTL_DEL && event != NULL &&
      vprof_sync_on(VPROF_CLASS_STREAM)) {
    keep(epoll, event->data.u64, fd);
  }
  return result;
}

VPROF_CANCELLABLE int epoll_wait(int epoll, struct epoll_event* events, int n, int limit) {
  POLL(kept(epoll, events), epoll_wait, epoll, events, n, limit);
}
VPROF_CANCELLABLE int epoll_pwait(int epoll, struct epoll_event* events, int n, int limit,
                                  const sigset_t* mask) {
  POLL(kept(epoll, events), epoll_pwait, epoll, events, n, limit, mask);
}

// ---- by number

static int first_ready(long number, const long* a) {
  switch (number) {
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
      return first_polled((const struct pollfd*)a[0], (nfds_t)a[1]);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      return first_selected((int)a[0], (const fd_set*)a[1], (const fd_set*)a[2]);
    default:
      return kept((int)a[0], (const struct epoll_event*)a[1]);
  }
}

long vprof_raw_poll(long number, const long* a) {
  if (!vprof_sync_on(VPROF_CLASS_STREAM)) {
    return vprof_raw_call(number, a);
  }
  CALL call = call_begin();
  const long result = vprof_raw_call(number, a);
  call.timed_out = result == 0;
  if (result > 0) {
    call.ready = first_ready(number, a);
  }
  return result;
}
