// Time that passes only when it is read, so that the intervals of the test's program take the same
// however busy the machine is. Linked into that program; VPROF_CLOCK=program makes libvprof use it.
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kSecond = 1000000000, kReadingNs = 20 };

int clock_gettime(clockid_t clock, struct timespec* time) {
  static long now_ns = 1000L * kSecond;
  if (clock != CLOCK_MONOTONIC) {
    return (int)syscall(SYS_clock_gettime, clock, time);
  }
  const long now = __atomic_add_fetch(&now_ns, kReadingNs, __ATOMIC_RELAXED);
  time->tv_sec = now / kSecond;
  time->tv_nsec = now % kSecond;
  return 0;
}
