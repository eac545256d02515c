// The time-stamp counter is a clock only where it runs at one rate on all processors.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/clock.h"
#include "base/raw_syscall.h"
#include "base/settings.h"

int vprof_clock_kind = VPROF_CLOCK_MONOTONIC;
uint64_t vprof_ticks_per_second = 1000000000;
uint64_t vprof_unwatched = 1;

static struct vprof_clock_reading first_reading;
static bool calibrated;

// libc's own function, past any sanitizer's interceptor: those need thread-local state, which the
// helper thread lacks.
static int (*real_clock_gettime)(clockid_t, struct timespec*) = clock_gettime;

// What the trace calls CLOCK_MONOTONIC. VPROF_CLOCK=program makes it the function that the program
// calls, which a simulation may have replaced.
static int (*traced_clock_gettime)(clockid_t, struct timespec*) = clock_gettime;

static uint64_t in_ns(struct timespec t) {
  return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static uint64_t now_ns(clockid_t clock) {
  struct timespec t;
  real_clock_gettime(clock, &t);
  return in_ns(t);
}

static uint64_t traced_ns(void) {
  struct timespec t;
  traced_clock_gettime(CLOCK_MONOTONIC, &t);
  return in_ns(t);
}

uint64_t vprof_monotonic_ns(void) { return now_ns(CLOCK_MONOTONIC); }

static uint64_t processor_ns(clockid_t clock) {
  struct timespec t = {0, 0};
  vprof_syscall(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);
  return in_ns(t);
}

uint64_t vprof_process_processor_ns(void) { return processor_ns(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t vprof_thread_processor_ns(void) { return processor_ns(CLOCK_THREAD_CPUTIME_ID); }

uint64_t vprof_rt_ticks(void) {
  const uint64_t now = traced_ns();
  return now != 0 ? now : 1;  // a scope takes 0 for "off"
}

// The clocks can only be read one after another. Of several rounds, the shortest leaves the least
// time between the readings.
struct vprof_clock_reading vprof_clock_read(void) {
  struct vprof_clock_reading best = {0, 0, 0};
  uint64_t best_width = UINT64_MAX;
  for (int round = 0; round < 5; ++round) {
    const uint64_t before = vprof_ticks();
    const uint64_t monotonic = traced_ns();
    const uint64_t middle = vprof_ticks();
    const uint64_t realtime = now_ns(CLOCK_REALTIME);
    if (middle - before >= best_width) {
      continue;
    }
    best_width = middle - before;
    best.ticks = before + (middle - before) / 2;
    best.monotonic_ns = monotonic;
    best.realtime_ns = realtime;
  }
  return best;
}

#if defined(__x86_64__)
enum { kCounter = VPROF_CLOCK_TSC };

// Either the processor declares its counter invariant, or the kernel itself keeps time by it.
static bool counter_is_steady(void) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(0x80000007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0) {
    return true;
  }
  char source[8] = {0};
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                      O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    return false;
  }
  const long length = vprof_syscall(SYS_read, fd, (long)source, sizeof source - 1, 0, 0, 0);
  close(fd);
  return length >= 3 && strncmp(source, "tsc", 3) == 0 && (source[3] == 0 || source[3] == '\n');
}
#elif defined(__aarch64__)
enum { kCounter = VPROF_CLOCK_CNTVCT };

static bool counter_is_steady(void) { return true; }
#else
enum { kCounter = VPROF_CLOCK_MONOTONIC };

static bool counter_is_steady(void) { return false; }
#endif

static void find_clock_gettime(void* in, int (**function)(clockid_t, struct timespec*)) {
  void* found = dlsym(in, "clock_gettime");
  if (found != NULL) {
    *(void**)function = found;
  }
}

void vprof_clock_init(void) {
  const char* wanted = getenv("VPROF_CLOCK");
  const bool as_program = wanted != NULL && strcmp(wanted, "program") == 0;
  const bool monotonic = as_program || (wanted != NULL && strcmp(wanted, "monotonic") == 0);
  find_clock_gettime(RTLD_NEXT, &real_clock_gettime);
  traced_clock_gettime = real_clock_gettime;
  if (as_program) {
    find_clock_gettime(RTLD_DEFAULT, &traced_clock_gettime);
  }
  if (!monotonic && counter_is_steady()) {
    vprof_clock_kind = kCounter;
  } else {
    vprof_no_counter = 1;
    vprof_unwatched = 0;
  }
  first_reading = vprof_clock_read();
}

// Two readings at least 1 ms apart. The snapshots in the trace refine the rate later.
void vprof_clock_calibrate(void) {
  if (vprof_clock_kind == VPROF_CLOCK_MONOTONIC || calibrated) {
    return;
  }
  while (now_ns(CLOCK_MONOTONIC) - first_reading.monotonic_ns < 1000000) {
  }
  const struct vprof_clock_reading now = vprof_clock_read();
  const double seconds = (double)(now.monotonic_ns - first_reading.monotonic_ns) * 1e-9;
  vprof_ticks_per_second = (uint64_t)((double)(now.ticks - first_reading.ticks) / seconds);
  calibrated = true;
}

// Runs the instructions of a scope on memory of its own. The shortest of several batches counts:
// anything above it is noise.
uint64_t vprof_record_cost_x256(void) {
  enum { kBatches = 8, kRecords = 64 };
  static uint64_t known;  // a forked child inherits it
  if (known != 0) {
    return known;
  }
  _Alignas(16) struct vprof_slot slots[kRecords];
  uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    struct vprof_buffer buffer = {vprof_cursor_at((uintptr_t)slots, kRecords), &vprof_unwatched, 0};
    const uint64_t start = vprof_ticks();
    for (int i = 0; i < kRecords; ++i) {
      vprof_record_to(&buffer, 1, vprof_ticks());
    }
    const uint64_t took = vprof_ticks() - start;
    if (took < least) {
      least = took;
    }
  }
  known = least * 256 / kRecords;
  return known;
}

uint64_t vprof_call_cost_x256(void) {
  enum { kBatches = 8, kCalls = 16 };
  static uint64_t known;  // a forked child inherits it
  if (known != 0 || vprof_confined()) {
    return known;
  }
  uint64_t least = UINT64_MAX;
  for (int batch = 0; batch < kBatches; ++batch) {
    const uint64_t start = vprof_ticks();
    for (int i = 0; i < kCalls; ++i) {
      vprof_syscall(SYS_gettid, 0, 0, 0, 0, 0, 0);
    }
    const uint64_t took = vprof_ticks() - start;
    if (took < least) {
      least = took;
    }
  }
  known = least * 256 / kCalls;
  return known;
}
