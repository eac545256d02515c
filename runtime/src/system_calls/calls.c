// Calls whose object is known without asking the kernel: sleeps, SysV semaphores and queues; and
// those that give way to other threads.
//
// They cannot be tried first, so they are timed; those that take 5 us or more are waits.
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/msg.h>
#include <sys/sem.h>

#include "interpose/interpose.h"
#include "system_calls/raw_calls.h"

// The kinds below have a class of their own, of the same name.
#define TIMED(kind, object, shared, failure, name, ...)                             \
  const struct vprof_real* real = vprof_real_functions();                           \
  if (real->name == NULL) return errno = ENOSYS, failure;                           \
  if (!vprof_sync_on(VPROF_CLASS_##kind)) return real->name(__VA_ARGS__);           \
  VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_##kind, object, shared); \
  return real->name(__VA_ARGS__)

// ---- sleeps, which nobody ends

#define SLEEP(failure, name, ...) TIMED(TIMER, 0, false, failure, name, __VA_ARGS__)

VPROF_CANCELLABLE int nanosleep(const struct timespec* time, struct timespec* left) {
  SLEEP(-1, nanosleep, time, left);
}
VPROF_CANCELLABLE int clock_nanosleep(clockid_t clock, int flags, const struct timespec* time,
                                      struct timespec* left) {
  SLEEP(ENOSYS, clock_nanosleep, clock, flags, time, left);
}
VPROF_CANCELLABLE unsigned sleep(unsigned seconds) { SLEEP(seconds, sleep, seconds); }
VPROF_CANCELLABLE int usleep(unsigned microseconds) { SLEEP(-1, usleep, microseconds); }
VPROF_CANCELLABLE int thrd_sleep(const struct timespec* time, struct timespec* left) {
  SLEEP(-2, thrd_sleep, time, left);
}

long vprof_raw_sleep(long number, const long* a) {
  if (!vprof_sync_on(VPROF_CLASS_TIMER)) {
    return vprof_raw_call(number, a);
  }
  VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_TIMER, 0, false);
  return vprof_raw_call(number, a);
}

// ---- giving way to other threads, as a loop does that waits for one of them. The kernel takes
// that for a switch in which the thread could have run on, which would be preemption. Loops may do
// so in great numbers, so nothing that threads share is touched.

// The runtime of a sanitizer gives way whenever a thread starts: it says nothing about requests.
extern void __asan_init(void) __attribute__((weak));  // NOLINT(bugprone-*,readability-*)
extern void __tsan_init(void) __attribute__((weak));  // NOLINT(bugprone-*,readability-*)

static bool yields_count(void) {
  return vprof_sync_on(VPROF_CLASS_SPIN) && __asan_init == NULL && __tsan_init == NULL;
}

static void yielded(uint64_t start) {
  const uint64_t now = vprof_ticks();
  const bool waited = now - start >= vprof_ticks_per_second / 1000000 * VPROF_LEAST_WAIT_US;
  if (waited) {
    const struct vprof_wait wait = {.start = start, .event = VPROF_EV_WAIT_YIELD};
    vprof_wait_write(&wait, now);
  }
  vprof_wait_over(now - start, waited ? VPROF_WAITED_ONCE : VPROF_WAITED_NEVER);
}

VPROF_RT_API int sched_yield(void) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->sched_yield == NULL) {
    return errno = ENOSYS, -1;
  }
  if (!yields_count()) {
    return real->sched_yield();
  }
  const uint64_t start = vprof_event_time();
  const int result = real->sched_yield();
  yielded(start);
  return result;
}

VPROF_RT_API void thrd_yield(void) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->thrd_yield == NULL) {
    return;
  }
  if (!yields_count()) {
    return real->thrd_yield();
  }
  const uint64_t start = vprof_event_time();
  real->thrd_yield();
  yielded(start);
}

// ---- io_uring: the requests may be for a disk, a peer or a clock, and the answers say only what
// the program has put in

// Some of liburing's functions call others of them, depending on its version: one wait, not two.
static __thread bool in_liburing __attribute__((tls_model("initial-exec")));
static void leave_liburing(const bool* unused) {
  (void)unused;
  in_liburing = false;
}

#define RING(name, ...)                                                                \
  const struct vprof_real* real = vprof_real_functions();                              \
  if (real->name == NULL) return -ENOSYS;                                              \
  if (in_liburing || !vprof_sync_on(VPROF_CLASS_FILE)) return real->name(__VA_ARGS__); \
  const bool inside __attribute__((cleanup(leave_liburing))) = in_liburing = true;     \
  (void)inside;                                                                        \
  VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_RING, 0, false);            \
  return real->name(__VA_ARGS__)

// io_uring_enter(ring, to submit, to wait for, flags, signals, size)
long vprof_raw_ring(long number, const long* a) {
  if (a[2] == 0 || !vprof_sync_on(VPROF_CLASS_FILE)) {
    return vprof_raw_call(number, a);
  }
  VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_RING, 0, false);
  return vprof_raw_call(number, a);
}

// What liburing's inline functions call, such as io_uring_wait_cqe.
// NOLINTBEGIN(readability-identifier-naming): liburing's names
#define LIBURING(name, parameters)       \
  VPROF_CANCELLABLE int name parameters; \
  VPROF_CANCELLABLE int name parameters
LIBURING(__io_uring_get_cqe, (struct io_uring * ring, struct io_uring_cqe** answer, unsigned submit,
                              unsigned count, sigset_t* mask)) {
  RING(__io_uring_get_cqe, ring, answer, submit, count, mask);
}
LIBURING(io_uring_wait_cqes, (struct io_uring * ring, struct io_uring_cqe** answer, unsigned count,
                              struct __kernel_timespec* limit, sigset_t* mask)) {
  RING(io_uring_wait_cqes, ring, answer, count, limit, mask);
}
LIBURING(io_uring_wait_cqe_timeout,
         (struct io_uring * ring, struct io_uring_cqe** answer, struct __kernel_timespec* limit)) {
  RING(io_uring_wait_cqe_timeout, ring, answer, limit);
}
LIBURING(io_uring_submit_and_wait, (struct io_uring * ring, unsigned count)) {
  RING(io_uring_submit_and_wait, ring, count);
}
LIBURING(io_uring_submit_and_wait_timeout,
         (struct io_uring * ring, struct io_uring_cqe** answer, unsigned count,
          struct __kernel_timespec* limit, sigset_t* mask)) {
  RING(io_uring_submit_and_wait_timeout, ring, answer, count, limit, mask);
}
// NOLINTEND(readability-identifier-naming)

// ---- SysV semaphores and message queues, identified by their ids

enum { kIdShift = 32 };
static uint64_t sysv_object(int id) { return UINT64_C(1) << kIdShift | (uint32_t)id; }

static void sysv_wake_begin(struct vprof_release* release, uint32_t class, int id) {
  vprof_release_begin(release, class, sysv_object(id), true);
}

static void sysv_wake_end(struct vprof_release* release, uint32_t event, bool done) {
  vprof_release_end(release, event, done ? 0 : -1);
}

static bool gives(const struct sembuf* operations, size_t count) {
  for (size_t i = 0; operations != NULL && i < count; ++i) {
    if (operations[i].sem_op != 0) {
      return true;
    }
  }
  return false;
}

// More is E2BIG, and then the array need not even be readable.
enum { kMostOperations = 4096 };

#define SEMOP(gave_up, name, ...)                                                                  \
  const struct vprof_real* real = vprof_real_functions();                                          \
  if (!vprof_sync_on(VPROF_CLASS_SYSV) || count > kMostOperations) return real->name(__VA_ARGS__); \
  struct vprof_release release = {0};                                                              \
  if (gives(operations, count)) sysv_wake_begin(&release, VPROF_CLASS_SYSV, id);                   \
  int result = 0;                                                                                  \
  {                                                                                                \
    VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_SYSV, sysv_object(id), true);         \
    result = real->name(__VA_ARGS__);                                                              \
    vprof_call_result(&wait_of_call, result, gave_up);                                             \
  }                                                                                                \
  sysv_wake_end(&release, VPROF_EV_RELEASE_SYSV, result == 0);                                     \
  return result

VPROF_RT_API int semop(int id, struct sembuf* operations, size_t count) {
  SEMOP(0, semop, id, operations, count);
}
VPROF_RT_API int semtimedop(int id, struct sembuf* operations, size_t count,
                            const struct timespec* limit) {
  SEMOP(EAGAIN, semtimedop, id, operations, count, limit);
}

VPROF_RT_API int semctl(int id, int number, int command, ...) {
  va_list more;
  va_start(more, command);
  void* argument = va_arg(more, void*);  // a union of a pointer and an int
  va_end(more);
  struct vprof_release release = {0};
  if (command == SETVAL || command == SETALL || command == IPC_RMID) {
    sysv_wake_begin(&release, VPROF_CLASS_SYSV, id);
  }
  const int result = vprof_real_functions()->semctl(id, number, command, argument);
  sysv_wake_end(&release, VPROF_EV_RELEASE_SYSV, result >= 0);
  return result;
}

// Each call may wait, for room or for a message, and ends waits of the other kind.
#define EXCHANGE(type, name, ...)                                                           \
  const struct vprof_real* real = vprof_real_functions();                                   \
  if (!vprof_sync_on(VPROF_CLASS_QUEUE)) return real->name(__VA_ARGS__);                    \
  struct vprof_release release = {0};                                                       \
  sysv_wake_begin(&release, VPROF_CLASS_QUEUE, id);                                         \
  type result = 0;                                                                          \
  {                                                                                         \
    VPROF_WAIT wait_of_call = vprof_call_begin(VPROF_EV_WAIT_QUEUE, sysv_object(id), true); \
    result = real->name(__VA_ARGS__);                                                       \
  }                                                                                         \
  sysv_wake_end(&release, VPROF_EV_RELEASE_QUEUE, result >= 0);                             \
  return result

VPROF_CANCELLABLE int msgsnd(int id, const void* message, size_t bytes, int flags) {
  EXCHANGE(int, msgsnd, id, message, bytes, flags);
}
VPROF_CANCELLABLE ssize_t msgrcv(int id, void* message, size_t bytes, long type, int flags) {
  EXCHANGE(ssize_t, msgrcv, id, message, bytes, type, flags);
}
