// Waits for several descriptors at once: with which limit, and how many turned out to be ready.
#include <vprof/runtime/scope.h>

#define VPROF_ENABLED
#include <vprof/annotations.h>

#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "../gate.h"
#include "subject.h"

using namespace vprof::test;

static char byte = 'x';

SUBJECT(waits_poll) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  pollfd fds[2] = {{0, 0, 0}, {ends[0], POLLIN, 0}};
  fds[0].fd = -1;
  return wait_for([&] { return poll(fds, 2, -1); }, [&] { return write(ends[1], &byte, 1); });
}

SUBJECT(waits_select) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  fd_set set;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  return wait_for([&] { return select(ends[0] + 1, &set, nullptr, nullptr, nullptr); },
                  [&] { return write(ends[1], &byte, 1); });
}

template <class Wait>
static int wait_for_epoll(const Wait& wait) {
  const int epoll = epoll_create1(0);
  const int fd = eventfd(0, 0);
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = 0x123456789;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  epoll_event found{};
  return wait_for([&] { return wait(epoll, &found); },
                  [&] {
                    const uint64_t one = 1;
                    return write(fd, &one, sizeof one);
                  });
}

SUBJECT(waits_epoll) {
  return wait_for_epoll(
      [](int epoll, epoll_event* found) { return epoll_wait(epoll, found, 1, -1); });
}

SUBJECT(waits_epoll_pwait2) {
#if __GLIBC_PREREQ(2, 35)
  return wait_for_epoll([](int epoll, epoll_event* found) {
    return epoll_pwait2(epoll, found, 1, nullptr, nullptr);
  });
#else
  return 99;
#endif
}

SUBJECT(waits_epoll_by_number) {
#ifdef SYS_epoll_pwait2
  return wait_for_epoll([](int epoll, epoll_event* found) {
    return syscall(SYS_epoll_pwait2, epoll, found, 1, nullptr, nullptr, 0);
  });
#else
  return 99;
#endif
}

// With something to return, the call did not wait, however long it takes.
SUBJECT(slow_epoll_at_once) {
  leaf();
  const int epoll = epoll_create1(0);
  const int fd = eventfd(1, 0);
  epoll_event event{};
  event.events = EPOLLIN;
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
  vprof_test_gate = [](const char* function, int) {
    if (std::strcmp(function, "epoll_wait") == 0) {
      rest_us(1000);
    }
  };
  epoll_event found{};
  const bool ready = epoll_wait(epoll, &found, 1, -1) == 1;
  const uint64_t other = 1;
  const bool none =
      write(fd, &other, sizeof other) == sizeof other && epoll_wait(epoll, &found, 1, 0) == 1;
  vprof_test_gate = nullptr;
  return ready && none ? 0 : 1;
}

// One write makes both ends of the pipe's duplicate ready.
SUBJECT(waits_poll_two_ready) {
  int ends[2];
  if (pipe(ends) != 0) {
    return 4;
  }
  pollfd fds[2] = {{ends[0], POLLIN, 0}, {dup(ends[0]), POLLIN, 0}};
  return wait_for([&] { return poll(fds, 2, 60000); }, [&] { return write(ends[1], &byte, 1); });
}

// Requests that begin after a poll that found nothing, one descriptor, or both ready; the last one
// is taken from a queue.
SUBJECT(begins_after_polls) {
  leaf();
  int ends[2];
  int other[2];
  if (pipe(ends) != 0 || pipe(other) != 0) {
    return 4;
  }
  pollfd fds[2] = {{ends[0], POLLIN, 0}, {other[0], POLLIN, 0}};
  uint64_t id = 1;
  const auto serve = [&] {
    vprof_begin(id);
    vprof_end(id++);
  };
  const auto serve_two = [&](int expected) {
    const bool right = poll(fds, 2, 0) == expected;
    serve();
    serve();
    return right;
  };
  const bool none = serve_two(0);
  const bool one = write(ends[1], &byte, 1) == 1 && serve_two(1);
  const bool both = write(other[1], &byte, 1) == 1 && serve_two(2);
  serve();  // beyond the two that can have been ready
  const bool again = poll(fds, 2, 0) == 2;
  for (const int request [[maybe_unused]] : {1, 2}) {
    vprof_switch(id);
    serve();
  }
  const bool tasks = poll(fds, 2, 0) == 2;
  serve();
  vprof_task_taken(id);
  serve();
  return none && one && both && again && tasks ? 0 : 1;
}

static timespec milliseconds(long n) { return {0, n * 1000000}; }
static timeval milliseconds_of_select(long n) { return {0, n * 1000}; }

// Nothing becomes ready, so each call waits as long as it may: one millisecond, two, and so on.
SUBJECT(poll_limits) {
  leaf();
  const int epoll = epoll_create1(0);
  epoll_event event{};
  const timespec two = milliseconds(2);
  const timespec five = milliseconds(5);
  timeval three = milliseconds_of_select(3);
  const long total = poll(nullptr, 0, 1) + ppoll(nullptr, 0, &two, nullptr) +
                     select(0, nullptr, nullptr, nullptr, &three) +
                     epoll_wait(epoll, &event, 1, 4) +
                     pselect(0, nullptr, nullptr, nullptr, &five, nullptr) +
                     epoll_pwait(epoll, &event, 1, 6, nullptr) +
                     syscall(SYS_epoll_pwait, epoll, &event, 1, 7, nullptr, 8);
  timespec raw = milliseconds(8);
  const long raw_total = syscall(SYS_ppoll, nullptr, 0, &raw, nullptr, 8);
  raw = milliseconds(9);
  return total + raw_total + syscall(SYS_pselect6, 0, nullptr, nullptr, nullptr, &raw, nullptr) == 0
             ? 0
             : 1;
}
