// Waiting for several descriptors at once. The wait is for the first one that turns out to be
// ready: for bytes if it can be read, else for room.
//
// A call is first made with a time limit of 0 where that is possible. If something was ready, the
// thread did not wait, however long the call took: after a long handler, with cold caches, that may
// be longer than many waits. An event loop that was busy must not look as if it had been waiting.
#define _GNU_SOURCE
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"
#include "system_calls/streams.h"

enum { kNone = -1, kLeastUs = 5 };

// ---- time limits, as in vprof_aux

static const uint64_t kNoWait = 1;

static uint64_t of_microseconds(int64_t seconds, int64_t microseconds) {
  const uint64_t most = VPROF_NO_LIMIT / 1000000 - 1;
  if (seconds < 0 || microseconds < 0 || (uint64_t)seconds > most) {
    return VPROF_NO_LIMIT;
  }
  return (uint64_t)seconds * 1000000 + (uint64_t)microseconds + 1;
}
static uint64_t of_milliseconds(int limit) {
  return limit < 0 ? VPROF_NO_LIMIT : of_microseconds(limit / 1000, limit % 1000 * 1000);
}
// A shorter limit than a microsecond is still one to wait for.
static uint64_t of_timespec(const struct timespec* limit) {
  return limit == NULL ? VPROF_NO_LIMIT
                       : of_microseconds(limit->tv_sec, (limit->tv_nsec + 999) / 1000);
}
static uint64_t of_timeval(const struct timeval* limit) {
  return limit == NULL ? VPROF_NO_LIMIT : of_microseconds(limit->tv_sec, limit->tv_usec);
}

struct vprof_ready {
  int fd;         // kNone: timed out, interrupted, or not known
  bool for_room;  // it can be written to, and not read
};

struct vprof_poll_call {
  uint64_t start;
  struct vprof_ready ready;
  uint64_t limit;        // as in vprof_aux
  unsigned ready_count;  // descriptors
  bool timed_out;
  bool wants_room;
  bool epoll;
  bool failed;   // interrupted, for example
  bool at_once;  // it did not wait
};

static void write_wait(const struct vprof_poll_call* call, uint64_t now) {
  const int errno_before = errno;
  struct vprof_stream stream = {0, 0, VPROF_STREAM_UNKNOWN, 0, 0};
  if (call->ready.fd != kNone) {
    stream = vprof_stream_checked(call->ready.fd);
  }
  const bool for_room = call->ready.for_room;
  uint32_t event = for_room ? VPROF_EV_WAIT_ROOM : VPROF_EV_WAIT_POLL;
  if (call->timed_out || stream.kind == VPROF_STREAM_TIMER) {
    event = VPROF_EV_WAIT_TIMER;
  }
  if (stream.kind == VPROF_STREAM_SIGNAL) {
    event = VPROF_EV_WAIT_SIGNAL;
  }
  uint64_t aux = VPROF_AUX_POLL | (stream.shared != 0 ? VPROF_AUX_SHARED : 0);
  aux |= call->epoll ? VPROF_AUX_EPOLL : 0;
  aux |= call->ready_count == 1 ? VPROF_AUX_ONE_READY : 0;
  aux |= call->timed_out ? VPROF_AUX_TIMED_OUT : 0;
  if (call->ready.fd != kNone) {
    aux |= ((uint64_t)call->ready.fd + 1) << VPROF_AUX_DESCRIPTOR_SHIFT;
  }
  const struct vprof_wait wait = {.start = call->start,
                                  .object = for_room ? stream.out : stream.in,
                                  .aux = aux,
                                  .event = event,
                                  .limit = call->limit};
  vprof_wait_write(&wait, now);
  errno = errno_before;
}

static void call_end(struct vprof_poll_call* call) {
  const uint64_t now = vprof_ticks();
  atomic_fetch_sub(vprof_blocked_on_streams(), 1);
  if (call->wants_room) {
    atomic_fetch_sub(vprof_blocked_for_room(), 1);
  }
  if (!call->failed) {
    vprof_self.polled = now;
    vprof_self.ready = call->ready_count;
    vprof_self.begun = vprof_self.begun_last = 0;
  }
  const bool waited =
      !call->at_once && now - call->start >= vprof_ticks_per_second / 1000000 * kLeastUs;
  if (waited) {
    write_wait(call, now);
  }
  vprof_wait_over(now - call->start, waited ? VPROF_WAITED_ONCE : VPROF_WAITED_UNRECORDED);
}

#define CALL __attribute__((cleanup(call_end))) struct vprof_poll_call
static struct vprof_poll_call call_begin(bool wants_room, bool epoll, uint64_t limit) {
  const struct vprof_poll_call call = {.start = vprof_event_time(),
                                       .ready = {kNone, false},
                                       .limit = limit,
                                       .wants_room = wants_room,
                                       .epoll = epoll};
  atomic_fetch_add(vprof_blocked_on_streams(), 1);
  if (wants_room) {
    atomic_fetch_add(vprof_blocked_for_room(), 1);
  }
  return call;
}

// `attempt`: the call with a limit of 0, or 0 if there is none. `how_long`: as in vprof_aux.
#define POLL(wants_room, epoll, first_ready, attempt, how_long, name, ...) \
  const struct vprof_real* real = vprof_real_functions();                  \
  if (real->name == NULL) return errno = ENOSYS, -1;                       \
  if (!vprof_sync_on(VPROF_CLASS_STREAM)) return real->name(__VA_ARGS__);  \
  CALL call = call_begin(wants_room, epoll, how_long);                     \
  const bool may_wait = call.limit != kNoWait;                             \
  int result = may_wait ? (attempt) : 0;                                   \
  call.at_once = !may_wait || result != 0;                                 \
  if (result == 0) result = real->name(__VA_ARGS__);                       \
  call.timed_out = result == 0;                                            \
  call.failed = result < 0;                                                \
  if (result > 0) call.ready = first_ready;                                \
  call.ready_count = result > 0 ? (unsigned)result : 0;                    \
  return result

// More than there can be descriptors is EINVAL, and then the array need not even be readable.
static bool polls_for_room(const struct pollfd* fds, nfds_t n) {
  for (nfds_t i = 0; fds != NULL && n <= VPROF_DESCRIPTORS && i < n; ++i) {
    if ((fds[i].events & (POLLOUT | POLLWRNORM)) != 0) {
      return true;
    }
  }
  return false;
}

static struct vprof_ready first_polled(const struct pollfd* fds, nfds_t n) {
  for (nfds_t i = 0; i < n; ++i) {
    const int events = fds[i].revents;
    if (fds[i].fd >= 0 && events != 0) {
      const bool for_room = (events & (POLLOUT | POLLWRNORM)) != 0 && (events & POLLIN) == 0;
      return (struct vprof_ready){fds[i].fd, for_room};
    }
  }
  return (struct vprof_ready){kNone, false};
}

#define POLL_ARRAY(attempt, how_long, name, ...)                                             \
  POLL(polls_for_room(fds, n), false, first_polled(fds, n), attempt, how_long, name, fds, n, \
       __VA_ARGS__)

static const struct timespec none;

// Not with a mask: signals that it lets in would be handled before the wait.
VPROF_CANCELLABLE int poll(struct pollfd* fds, nfds_t n, int limit) {
  POLL_ARRAY(real->poll(fds, n, 0), of_milliseconds(limit), poll, limit);
}
VPROF_CANCELLABLE int ppoll(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                            const sigset_t* mask) {
  POLL_ARRAY(mask == NULL ? real->ppoll(fds, n, &none, NULL) : 0, of_timespec(limit), ppoll, limit,
             mask);
}
// NOLINTBEGIN(readability-identifier-naming): libc's names
VPROF_CANCELLABLE int __poll_chk(struct pollfd* fds, nfds_t n, int limit, size_t room);
VPROF_CANCELLABLE int __poll_chk(struct pollfd* fds, nfds_t n, int limit, size_t room) {
  POLL_ARRAY(real->__poll_chk(fds, n, 0, room), of_milliseconds(limit), __poll_chk, limit, room);
}
VPROF_CANCELLABLE int __ppoll_chk(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                                  const sigset_t* mask, size_t room);
VPROF_CANCELLABLE int __ppoll_chk(struct pollfd* fds, nfds_t n, const struct timespec* limit,
                                  const sigset_t* mask, size_t room) {
  POLL_ARRAY(mask == NULL ? real->__ppoll_chk(fds, n, &none, NULL, room) : 0, of_timespec(limit),
             __ppoll_chk, limit, mask, room);
}
// NOLINTEND(readability-identifier-naming)

// Sets may be larger than an fd_set.
static bool is_in_set(const fd_set* set, int fd) {
  const size_t bits = 8 * sizeof(long);
  const unsigned long bit = 1ul << (size_t)fd % bits;
  return set != NULL && (((const unsigned long*)set)[(size_t)fd / bits] & bit) != 0;
}

static struct vprof_ready first_selected(int n, const fd_set* readable, const fd_set* writable) {
  for (int fd = 0; fd < n; ++fd) {
    const bool can_be_read = is_in_set(readable, fd);
    if (can_be_read || is_in_set(writable, fd)) {
      return (struct vprof_ready){fd, !can_be_read};
    }
  }
  return (struct vprof_ready){kNone, false};
}

VPROF_CANCELLABLE int select(int n, fd_set* readable, fd_set* writable, fd_set* excepted,
                             struct timeval* limit) {
  POLL(writable != NULL, false, first_selected(n, readable, writable), 0, of_timeval(limit), select,
       n, readable, writable, excepted, limit);
}
VPROF_CANCELLABLE int pselect(int n, fd_set* readable, fd_set* writable, fd_set* excepted,
                              const struct timespec* limit, const sigset_t* mask) {
  POLL(writable != NULL, false, first_selected(n, readable, writable), 0, of_timespec(limit),
       pselect, n, readable, writable, excepted, limit, mask);
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

static int kept(int epoll, uint64_t data) {
  const uint64_t key = key_of(epoll, data);
  const struct vprof_epoll_entry* entry = &epoll_entries[key >> (64 - kDataBits)];
  if (__atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) != key) {
    return kNone;
  }
  const int fd = (int)__atomic_load_n(&entry->fd, __ATOMIC_RELAXED);
  return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key ? fd : kNone;
}

static struct vprof_ready first_of_epoll(int epoll, const struct epoll_event* event) {
  const bool for_room =
      (event->events & (EPOLLOUT | EPOLLWRNORM)) != 0 && (event->events & EPOLLIN) == 0;
  return (struct vprof_ready){kept(epoll, event->data.u64), for_room};
}

// By descriptor: which epoll waits for room in it (its descriptor, plus 1), and, if it is an
// epoll itself, for how many descriptors it does. The count falls with the interest of each, so it
// may be too high if libc closed one, but never too low.
struct vprof_room_interest {
  uint32_t epoll;
  uint32_t descriptors;
};
static struct vprof_room_interest interests[VPROF_DESCRIPTORS];

static bool in_table(int fd) { return fd >= 0 && fd < VPROF_DESCRIPTORS; }

static void set_interest(int fd, uint32_t epoll_plus_1) {
  const uint32_t before = __atomic_exchange_n(&interests[fd].epoll, epoll_plus_1, __ATOMIC_ACQ_REL);
  if (before != 0) {
    __atomic_fetch_sub(&interests[before - 1].descriptors, 1, __ATOMIC_ACQ_REL);
  }
  if (epoll_plus_1 != 0) {
    __atomic_fetch_add(&interests[epoll_plus_1 - 1].descriptors, 1, __ATOMIC_ACQ_REL);
  }
}

void vprof_room_forget(int fd) {
  if (in_table(fd) && __atomic_load_n(&interests[fd].epoll, __ATOMIC_RELAXED) != 0) {
    set_interest(fd, 0);
  }
}

static void note_interest(int epoll, int fd, uint32_t events) {
  if ((events & (EPOLLOUT | EPOLLWRNORM)) == 0) {
    vprof_room_forget(fd);
  } else if (in_table(epoll) && in_table(fd)) {
    set_interest(fd, (uint32_t)epoll + 1);
  }
}

static bool epoll_wants_room(int epoll) {
  return in_table(epoll) && __atomic_load_n(&interests[epoll].descriptors, __ATOMIC_RELAXED) != 0;
}

VPROF_RT_API int epoll_ctl(int epoll, int operation, int fd, struct epoll_event* event) {
  const int result = vprof_real_functions()->epoll_ctl(epoll, operation, fd, event);
  // In a pause, too: whoever waits in the next recording may have been asked to watch before.
  if (result != 0 || !vprof_sync_wanted(VPROF_CLASS_STREAM)) {
    return result;
  }
  const bool watched = operation != EPOLL_CTL_DEL && event != NULL;
  note_interest(epoll, fd, watched ? event->events : 0);
  if (watched) {
    keep(epoll, event->data.u64, fd);
  }
  return result;
}

VPROF_CANCELLABLE int epoll_wait(int epoll, struct epoll_event* events, int n, int limit) {
  POLL(epoll_wants_room(epoll), true, first_of_epoll(epoll, events),
       real->epoll_wait(epoll, events, n, 0), of_milliseconds(limit), epoll_wait, epoll, events, n,
       limit);
}
VPROF_CANCELLABLE int epoll_pwait(int epoll, struct epoll_event* events, int n, int limit,
                                  const sigset_t* mask) {
  POLL(epoll_wants_room(epoll), true, first_of_epoll(epoll, events),
       mask == NULL ? real->epoll_pwait(epoll, events, n, 0, NULL) : 0, of_milliseconds(limit),
       epoll_pwait, epoll, events, n, limit, mask);
}

// glibc has it since 2.35. Older headers do not declare it.
int epoll_pwait2(int epoll, struct epoll_event* events, int n, const struct timespec* limit,
                 const sigset_t* mask);
VPROF_CANCELLABLE int epoll_pwait2(int epoll, struct epoll_event* events, int n,
                                   const struct timespec* limit, const sigset_t* mask) {
  POLL(epoll_wants_room(epoll), true, first_of_epoll(epoll, events),
       mask == NULL ? real->epoll_pwait2(epoll, events, n, &none, NULL) : 0, of_timespec(limit),
       epoll_pwait2, epoll, events, n, limit, mask);
}

// ---- by number

static bool wants_room(long number, const long* a) {
  switch (number) {
#ifdef SYS_poll
    case SYS_poll:
#endif
    case SYS_ppoll:
      return polls_for_room((const struct pollfd*)a[0], (nfds_t)a[1]);
#ifdef SYS_select
    case SYS_select:
#endif
    case SYS_pselect6:
      return a[2] != 0;
    default:
      return epoll_wants_room((int)a[0]);
  }
}

static struct vprof_ready first_ready(long number, const long* a) {
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
      return first_of_epoll((int)a[0], (const struct epoll_event*)a[1]);
  }
}

static bool is_epoll(long number) {
#ifdef SYS_epoll_wait
  if (number == SYS_epoll_wait) {
    return true;
  }
#endif
#ifdef SYS_epoll_pwait2
  if (number == SYS_epoll_pwait2) {
    return true;
  }
#endif
  return number == SYS_epoll_pwait;
}

// The limit of the call, as in vprof_aux.
static uint64_t limit_of(long number, const long* a) {
#ifdef SYS_poll
  if (number == SYS_poll) {
    return of_milliseconds((int)a[2]);
  }
#endif
#ifdef SYS_select
  if (number == SYS_select) {
    return of_timeval((const struct timeval*)a[4]);
  }
#endif
#ifdef SYS_epoll_pwait2
  if (number == SYS_epoll_pwait2) {
    return of_timespec((const struct timespec*)a[3]);
  }
#endif
  return number == SYS_ppoll      ? of_timespec((const struct timespec*)a[2])
         : number == SYS_pselect6 ? of_timespec((const struct timespec*)a[4])
                                  : of_milliseconds((int)a[3]);
}

// Which argument is the time limit, if that is a number and the call takes no mask; else -1.
static int limit_argument(long number, const long* a) {
#ifdef SYS_poll
  if (number == SYS_poll) {
    return 2;
  }
#endif
#ifdef SYS_epoll_wait
  if (number == SYS_epoll_wait) {
    return 3;
  }
#endif
  return number == SYS_epoll_pwait && a[4] == 0 ? 3 : -1;
}

// The call with a limit of 0, where that can be asked for; else 0.
static long attempt(long number, const long* a, int limit) {
  if (limit < 0 || a[limit] == 0) {
    return 0;
  }
  long at_once[6];
  memcpy(at_once, a, sizeof at_once);
  at_once[limit] = 0;
  return vprof_raw_call(number, at_once);
}

long vprof_raw_poll(long number, const long* a) {
  if (!vprof_sync_on(VPROF_CLASS_STREAM)) {
    return vprof_raw_call(number, a);
  }
  CALL call = call_begin(wants_room(number, a), is_epoll(number), limit_of(number, a));
  const int limit = limit_argument(number, a);
  long result = attempt(number, a, limit);
  call.at_once = result != 0 || (limit >= 0 && a[limit] == 0);
  if (result == 0) {
    result = vprof_raw_call(number, a);
  }
  call.timed_out = result == 0;
  call.failed = result < 0;
  if (result > 0) {
    call.ready = first_ready(number, a);
  }
  call.ready_count = result > 0 ? (unsigned)result : 0;
  return result;
}
