// clock.c, switches.c and watch_requests.c with clocks and perf events that the test sets.
//
// The sources are compiled unchanged; only their system calls, libc's clock and the processor's
// counter come from this file.
#define _GNU_SOURCE
#define VPROF_RAW_SYSCALL_H  // instead of base/raw_syscall.h
#define dlsym simulated_dlsym
#define __builtin_ia32_rdtsc simulated_counter

#include "kernel.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

unsigned long long simulated_counter(void);
static long vprof_syscall(long number, long a, long b, long c, long d, long e, long f);

// NOLINTBEGIN(bugprone-suspicious-include)
#include "base/clock.c"
#include "preemption/switches.c"
#include "preemption/watch_requests.c"
// NOLINTEND(bugprone-suspicious-include)

struct simulated_kernel simulated_kernel;
static struct vprof_file_header header;

// ---- clocks: reading one takes time

static void read_one(void) {
  simulated_kernel.ns += simulated_kernel.reading_ns;
  if (simulated_kernel.disturbed > 0) {
    --simulated_kernel.disturbed;
    simulated_kernel.ns += 1000000;
  }
}

uint64_t simulated_ticks_at(uint64_t ns) { return ns * simulated_kernel.ticks_per_us / 1000; }

unsigned long long simulated_counter(void) {
  read_one();
  return simulated_ticks_at(simulated_kernel.ns);
}

static int simulated_clock_gettime(clockid_t clock, struct timespec* time) {
  (void)clock;
  read_one();
  *time = (struct timespec){(time_t)(simulated_kernel.ns / 1000000000),
                            (long)(simulated_kernel.ns % 1000000000)};
  return 0;
}

void* simulated_dlsym(void* handle, const char* name) {
  (void)handle, (void)name;
  void* found = NULL;
  *(int (**)(clockid_t, struct timespec*))&found = simulated_clock_gettime;
  return found;
}

// ---- perf events: a descriptor is 100 + the thread's id

enum { kFirstDescriptor = 100, kRingSize = kRingPages * VPROF_PAGE_BYTES };
static _Alignas(VPROF_PAGE_BYTES) char rings[SIMULATED_THREADS][VPROF_PAGE_BYTES + kRingSize];
static struct vprof_watched table[kMostThreads];

static long vprof_syscall(long number, long a, long b, long c, long d, long e, long f) {
  (void)a, (void)c, (void)d, (void)f;
  switch (number) {
    case SYS_prctl:
      return simulated_kernel.sandbox;
    case SYS_perf_event_open:
      if (simulated_kernel.open_error != 0) {
        return -simulated_kernel.open_error;
      }
      ++simulated_kernel.opened;
      return kFirstDescriptor + b;
    case SYS_mmap:
      if (e < 0) {
        return (long)table;
      }
      if (simulated_kernel.map_error != 0) {
        return -simulated_kernel.map_error;
      }
      memset(rings[e - kFirstDescriptor], 0, sizeof rings[0]);
      return (long)rings[e - kFirstDescriptor];
    case SYS_close:
      ++simulated_kernel.closed;
      return 0;
    case SYS_tgkill:
      return simulated_kernel.ended[b] ? -ESRCH : 0;
    default:
      return 0;
  }
}

static struct perf_event_mmap_page* page_of(uint32_t thread) {
  return (struct perf_event_mmap_page*)rings[thread];
}

static void put(uint32_t thread, const void* record, size_t bytes) {
  struct perf_event_mmap_page* page = page_of(thread);
  char* ring = rings[thread] + VPROF_PAGE_BYTES;
  for (size_t i = 0; i < bytes; ++i) {
    ring[(page->data_head + i) % kRingSize] = ((const char*)record)[i];
  }
  page->data_head += bytes;
}

void simulated_switch_at(uint32_t thread, enum simulated_switch which, uint64_t ns) {
  static const uint16_t misc[] = {[SIMULATED_IN] = 0,
                                  [SIMULATED_OUT] = PERF_RECORD_MISC_SWITCH_OUT,
                                  [SIMULATED_OUT_PREEMPTED] = PERF_RECORD_MISC_SWITCH_OUT |
                                                              PERF_RECORD_MISC_SWITCH_OUT_PREEMPT};
  const struct {
    struct perf_event_header header;
    uint64_t time;
  } record = {{PERF_RECORD_SWITCH, misc[which], sizeof record}, ns};
  put(thread, &record, sizeof record);
}

void simulated_lose_records(uint32_t thread, uint64_t count) {
  const struct {
    struct perf_event_header header;
    uint64_t id, lost, time;
  } record = {{PERF_RECORD_LOST, 0, sizeof record}, 0, count, 0};
  put(thread, &record, sizeof record);
}

// ---- what these modules use of others

struct vprof_settings vprof_settings;
struct vprof_trace vprof_trace;
unsigned char vprof_no_counter;
static const struct vprof_frontier_header driven = {.heartbeat_ns = 1};
const struct vprof_frontier_header* vprof_frontier = &driven;

void vprof_helper_wake(void) {}
void vprof_count(uint64_t* counter, uint64_t by) { *counter += by; }
// vprof_record_cost_x256(), which nobody calls here.
void vprof_rt_frame(unsigned id, vprof_u64 start, vprof_u64 duration, uintptr_t at) {
  (void)id, (void)start, (void)duration, (void)at;
}
vprof_u64 vprof_rt_resumed(vprof_u64 since) { return since; }

bool vprof_helper_write(struct vprof_helper_output* out, const struct vprof_slot* slots,
                        unsigned count) {
  (void)out, (void)count;
  if (simulated_kernel.no_room) {
    return false;
  }
  if (simulated_kernel.writes < SIMULATED_WRITES) {
    simulated_kernel.write[simulated_kernel.writes] = (struct simulated_write){
        slots[0].word0, slots[0].word1 >> VPROF_ID_BITS, (uint32_t)slots[1].word0};
  }
  ++simulated_kernel.writes;
  return true;
}

// ---- the test's side

void simulated_boot(uint64_t ticks_per_us) {
  simulated_kernel =
      (struct simulated_kernel){.ns = 5000000000, .ticks_per_us = ticks_per_us, .reading_ns = 20};
  memset(rings, 0, sizeof rings);
  memset(&header, 0, sizeof header);
  vprof_settings.sites = true;
  vprof_settings.classes = VPROF_CLASS_ALL;
  vprof_trace.header = &header;
  vprof_no_counter = 0;
  calibrated = false;
  vprof_clock_init();
  vprof_clock_kind = VPROF_CLOCK_TSC;  // whatever this machine's counter is
  vprof_no_counter = 0;
  vprof_ticks_per_second = ticks_per_us * 1000000;
  const struct vprof_clock_reading now = vprof_clock_read();
  header.start_ticks = now.ticks;
  header.start_monotonic_ns = now.monotonic_ns;
  vprof_hook_forked();
  vprof_hook_helper_start();
}

uint64_t simulated_calibrate(void) {
  vprof_ticks_per_second = 0;
  vprof_clock_calibrate();
  return vprof_ticks_per_second;
}

void simulated_watch(uint32_t thread) { vprof_watch_request(thread, thread); }

void simulated_helper_rest(void) { vprof_hook_helper_rest(); }

uint64_t simulated_helper_round(bool finishing) {
  struct vprof_helper_output out = {0};
  const uint64_t next = vprof_hook_helper_round(&out, simulated_kernel.ns, finishing);
  simulated_kernel.unwatched = header.unwatched;
  simulated_kernel.refused = header.switches_refused;
  simulated_kernel.lost = header.switches_lost;
  simulated_kernel.let_go = header.let_go;
  return next;
}
