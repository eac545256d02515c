// Time that passes only where the test's program asks for it, so that its intervals take the same
// however busy the machine is. Linked into that program; VPROF_CLOCK=program makes libvprof use it.
#define _GNU_SOURCE
#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { kSecond = 1000000000, kReadingNs = 20 };

static pthread_t main_thread;
static long now_ns = 1000L * kSecond;

__attribute__((constructor)) static void begin(void) { main_thread = pthread_self(); }

// A reading by the program's own thread takes time. Others, such as libvprof's helper, read as often
// as they happen to run.
int clock_gettime(clockid_t clock, struct timespec* time) {
  if (clock != CLOCK_MONOTONIC) {
    return (int)syscall(SYS_clock_gettime, clock, time);
  }
  const long step = pthread_equal(main_thread, pthread_self()) ? kReadingNs : 0;
  const long now = __atomic_add_fetch(&now_ns, step, __ATOMIC_RELAXED);
  time->tv_sec = now / kSecond;
  time->tv_nsec = now % kSecond;
  return 0;
}
