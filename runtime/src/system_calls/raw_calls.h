// System calls by number that wait. Each function makes the call by libc's syscall() and records
// the wait as the function of that name would. `a`: the arguments.
#ifndef VPROF_RAW_CALLS_H
#define VPROF_RAW_CALLS_H

long vprof_raw_read(long number, const long* a);   // a[0]: a descriptor to read or accept from
long vprof_raw_write(long number, const long* a);  // a[0]: a descriptor to write to
long vprof_raw_file(long number, const long* a);   // that only files have
long vprof_raw_poll(long number, const long* a);
long vprof_raw_sleep(long number, const long* a);
long vprof_raw_child(long number, const long* a);
long vprof_raw_ring(long number, const long* a);  // io_uring_enter

// libc's syscall(). Defined in base/real.c.
long vprof_real_syscall(long number, long a, long b, long c, long d, long e, long f);

static inline long vprof_raw_call(long number, const long* a) {
  return vprof_real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#endif
