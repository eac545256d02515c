// System calls that touch neither errno nor any other thread-local state of libc: for the helper
// thread, which has none, and for code that may run in a signal handler. Returns what the kernel
// returns; errors are -errno. Never interposed, so a call is never recorded as a wait.
#ifndef VPROF_RAW_SYSCALL_H
#define VPROF_RAW_SYSCALL_H

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline long vprof_syscall(long number, long a, long b, long c, long d, long e, long f) {
#if defined(__x86_64__)
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ __volatile__("syscall"
                       : "=a"(result)
                       : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                       : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ __volatile__("svc 0"
                       : "+r"(x0)
                       : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                       : "memory");
  return x0;
#else
  long result = syscall(number, a, b, c, d, e, f);
  return result == -1 ? -errno : result;
#endif
}

// Sleeps; a signal may end it early. Less than a second.
static inline void vprof_pause(long ns) {
  const struct timespec time = {0, ns};
  vprof_syscall(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

#endif
