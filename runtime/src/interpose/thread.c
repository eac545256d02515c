// Threads: who created whom, and who waited for whose end.
//
// A thread's end is recorded when its function is left, by return, pthread_exit or cancellation:
// the frame of the trampoline below is the last to be unwound. Destructors of thread-local objects
// run later and may still record, since the thread keeps its buffer.
#define _GNU_SOURCE
#include <stdlib.h>
#include <threads.h>

#include "interpose/interpose.h"

struct vprof_start {
  void* (*function)(void*);
  thrd_start_t c11_function;
  void* argument;
  uint32_t creator;
};

static void thread_over(const bool* recorded) {
  if (!*recorded || !vprof_sync_on(VPROF_CLASS_JOIN)) {
    return;
  }
  struct vprof_release release = {vprof_waiters_of((uintptr_t)pthread_self()), 0, 0,
                                  (uintptr_t)pthread_self(), 0};
  vprof_release_take(&release);
  vprof_release_write(&release, VPROF_EV_RELEASE_JOIN, 0);
}

static struct vprof_start begin(void* argument) {
  const struct vprof_start start = *(struct vprof_start*)argument;
  free(argument);
  if (vprof_sync_on(VPROF_CLASS_JOIN)) {
    const struct vprof_slot slots[2] = {
        vprof_slot_of(VPROF_EV_THREAD_START, vprof_ticks(), 0),
        vprof_slot_of(VPROF_EV_CONT, (uintptr_t)pthread_self(), start.creator)};
    vprof_write(slots, 2);
  }
  return start;
}

static void* thread_main(void* argument) {
  const struct vprof_start start = begin(argument);
  __attribute__((cleanup(thread_over), unused)) const bool recorded = true;
  return start.function(start.argument);
}

static int c11_thread_main(void* argument) {
  const struct vprof_start start = begin(argument);
  __attribute__((cleanup(thread_over), unused)) const bool recorded = true;
  return start.c11_function(start.argument);
}

// In a pause, too: the thread may end in the next recording, and somebody may wait for that.
static struct vprof_start* new_start(void* argument) {
  struct vprof_start* start = vprof_sync_wanted(VPROF_CLASS_JOIN) ? malloc(sizeof *start) : NULL;
  if (start == NULL) {
    return NULL;
  }
  start->function = NULL;
  start->c11_function = NULL;
  start->argument = argument;
  start->creator = vprof_thread_serial();
  return start;
}

VPROF_RT_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                void* (*function)(void*), void* argument) {
  const struct vprof_real* real = vprof_real_functions();
  struct vprof_start* start = new_start(argument);
  if (start == NULL) {
    return real->pthread_create(thread, attributes, function, argument);
  }
  start->function = function;
  const int result = real->pthread_create(thread, attributes, thread_main, start);
  if (result != 0) {
    free(start);
  }
  return result;
}

VPROF_RT_API int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  const struct vprof_real* real = vprof_real_functions();
  if (real->thrd_create == NULL) {
    return thrd_error;
  }
  struct vprof_start* start = new_start(argument);
  if (start == NULL) {
    return real->thrd_create(thread, function, argument);
  }
  start->c11_function = function;
  const int result = real->thrd_create(thread, c11_thread_main, start);
  if (result != thrd_success) {
    free(start);
  }
  return result;
}

// glibc's pthread_join acts on a cancellation only where it blocks, and the attempt does not block.
#define JOIN(name, ...)                                                     \
  const struct vprof_real* real = vprof_real_functions();                   \
  if (real->name == NULL) return ENOSYS;                                    \
  if (!vprof_sync_on(VPROF_CLASS_JOIN) || real->pthread_tryjoin_np == NULL) \
    return real->name(__VA_ARGS__);                                         \
  const int tried = real->pthread_tryjoin_np(thread, value);                \
  if (tried != EBUSY) return tried;                                         \
  VPROF_BLOCK(JOIN, thread, false, real->name(__VA_ARGS__), result)

VPROF_CANCELLABLE int pthread_join(pthread_t thread, void** value) {
  JOIN(pthread_join, thread, value);
}

VPROF_CANCELLABLE int pthread_timedjoin_np(pthread_t thread, void** value,
                                           const struct timespec* limit) {
  JOIN(pthread_timedjoin_np, thread, value, limit);
}

VPROF_CANCELLABLE int pthread_clockjoin_np(pthread_t thread, void** value, clockid_t clock,
                                           const struct timespec* limit) {
  JOIN(pthread_clockjoin_np, thread, value, clock, limit);
}
