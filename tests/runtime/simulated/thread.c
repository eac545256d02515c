// preempted.c with clocks, counts and a mark that the test sets instead of the kernel.
//
// The source is compiled unchanged; only its system calls and its look-up of glibc's area come
// here.
#if __has_include(<sys/rseq.h>)  // else there is nothing to simulate
#define _GNU_SOURCE
#define VPROF_RAW_SYSCALL_H  // instead of base/raw_syscall.h
#define dlsym simulated_dlsym

#include "thread.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long vprof_syscall(long number, long a, long b, long c, long d, long e, long f) {
  (void)a, (void)c, (void)d, (void)e, (void)f;
  if (number == SYS_clock_gettime) {
    *(struct timespec*)b = (struct timespec){(time_t)(simulated.processor_ns / 1000000000),
                                             (long)(simulated.processor_ns % 1000000000)};
  } else if (number == SYS_getrusage) {
    ++simulated.asked;
    ((struct rusage*)b)->ru_nvcsw = (long)simulated.gave_up;
    ((struct rusage*)b)->ru_nivcsw = (long)simulated.lost;
  }
  return 0;
}

#include "preemption/preempted.c"  // NOLINT(bugprone-suspicious-include)

struct simulated_thread simulated;

// ---- what preempted.c uses of other modules

struct vprof_settings vprof_settings;
uint64_t vprof_ticks_per_second;
uint64_t vprof_unwatched = 1;
unsigned char vprof_no_counter;
static const struct vprof_frontier_header driven = {.heartbeat_ns = 1};
const struct vprof_frontier_header* vprof_frontier = &driven;
__thread struct vprof_buffer vprof_thread_buffer __attribute__((tls_model("initial-exec")));
__thread struct vprof_thread vprof_self __attribute__((tls_model("initial-exec")));

uint64_t simulated_ticks(void) { return simulated.ns * (vprof_ticks_per_second / 1000000) / 1000; }
uint64_t vprof_rt_ticks(void) { return simulated_ticks(); }
uint32_t vprof_thread_serial(void) { return 7; }
uint32_t vprof_thread_id(void) { return 77; }
uint64_t vprof_last_end(void) { return simulated.last_end; }

void vprof_watch_request(uint32_t serial, uint32_t tid) {
  (void)serial, (void)tid;
  ++simulated.requests;
}

void vprof_write(const struct vprof_slot* slots, unsigned count) {
  const uint64_t duration = slots[0].word1 >> VPROF_ID_BITS;
  const bool whole = count == 2 && (slots[0].word1 & VPROF_ID_MASK) == VPROF_EV_PREEMPTED &&
                     slots[1].word0 == vprof_thread_serial();
  if (whole && simulated.events < SIMULATED_EVENTS) {
    simulated.event[simulated.events] = (struct simulated_event){slots[0].word0, duration};
  }
  ++simulated.events;
  simulated.last_end = slots[0].word0 + duration;
}

// ---- glibc's area, which the kernel does not know

static struct rseq area;
static unsigned area_size;
static ptrdiff_t area_distance;

void* simulated_dlsym(void* handle, const char* name) {
  (void)handle;
  return strcmp(name, "__rseq_size") == 0 ? (void*)&area_size : (void*)&area_distance;
}

// ---- what happens to the thread

void simulated_start(uint64_t ticks_per_us, enum simulated_setting setting) {
  simulated = (struct simulated_thread){.ns = 1000000000, .processor_ns = 5000};
  vprof_ticks_per_second = ticks_per_us * 1000000;
  vprof_no_counter = 1;  // vprof_ticks() asks vprof_rt_ticks()
  vprof_settings.sites = true;
  vprof_settings.classes =
      setting == SIMULATED_CLASS_OFF ? VPROF_CLASS_ALL & ~VPROF_CLASS_PREEMPTION : VPROF_CLASS_ALL;
  vprof_thread_buffer = (struct vprof_buffer){VPROF_RT_NO_ROOM, &vprof_unwatched, 0};
  vprof_self = (struct vprof_thread){0};
  area = (struct rseq){0};
  area_size = setting == SIMULATED_NO_AREA ? 0 : 32;
  area_distance = (char*)&area - (char*)__builtin_thread_pointer();
  has_areas = false;
  vprof_preemption_init();
  vprof_hook_first_chunk();
}

void simulated_compute(uint64_t ns) {
  simulated.ns += ns;
  simulated.processor_ns += ns;
}

// As the kernel does when it switches the thread away, or delivers a signal to it.
void simulated_clear_mark(void) { area.rseq_cs = 0; }
void simulated_signal(void) { simulated_clear_mark(); }

void simulated_lose_processor(uint64_t ns) {
  simulated.ns += ns;
  ++simulated.lost;
  simulated_clear_mark();
}

void simulated_sleep_unrecorded(uint64_t ns) {
  simulated.ns += ns;
  ++simulated.gave_up;
  simulated_clear_mark();
}

void simulated_wait(uint64_t ns, uint64_t processor_ns, bool several) {
  const uint64_t start = simulated_frame(0);
  simulated_sleep_unrecorded(ns);
  simulated.processor_ns += processor_ns;
  const uint64_t now = simulated_ticks();
  simulated.last_end = now;  // it records its wait
  vprof_wait_over(now - start, several ? VPROF_WAITED_OFTEN : VPROF_WAITED_ONCE);
}

void simulated_call(uint64_t processor_ns, uint64_t lost_ns, bool cannot_wait) {
  const uint64_t start = simulated_frame(0);
  simulated_compute(processor_ns);
  if (lost_ns != 0) {
    simulated_lose_processor(lost_ns);
  }
  vprof_wait_over(simulated_ticks() - start,
                  cannot_wait ? VPROF_WAITED_NEVER : VPROF_WAITED_UNRECORDED);
}

void simulated_next_chunk(void) { vprof_hook_next_chunk(); }
void simulated_fork(void) { simulated.processor_ns = 0; }

uint64_t simulated_frame(uint64_t since) {
  return vprof_lost_processor() ? vprof_rt_resumed(since) : simulated_ticks();
}
#else
typedef int nothing_to_simulate;
#endif
