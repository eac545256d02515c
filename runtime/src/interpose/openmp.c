// OpenMP as gcc compiles it: the calls into libgomp at which threads wait for one another.
//
//   the region's thread   |== GOMP_parallel: its share ==|........ wait .......|
//   another one             |============ its share ===========| arrives
//
// libgomp waits by system calls of its own, which nobody else sees. So the function that each
// thread runs is wrapped: where it ends, the thread arrives at the barrier at the end of the
// region. The thread that began the region waits there, for the last one to arrive. The others go
// on to wait for the next region, which is no part of this one.
//
// Each barrier within a region is an object of its own, so a thread that has come to the next one
// already is not mistaken for the one that was late at this one.
//
// clang's libomp is entered by a call with as many arguments as the region uses, which cannot be
// passed on. Locks of OpenMP (critical, omp_set_lock) are not seen.
#define _GNU_SOURCE
#include "interpose/interpose.h"

struct vprof_region {
  void (*function)(void*);
  void* data;
  uint64_t number;
  const void* thread;      // that began it, as the address of its `current`
  struct vprof_wait wait;  // of that thread, at the end; not begun while `waiters` is NULL
};

// The innermost region that this thread works for, and how many of its barriers it has passed.
struct vprof_share {
  uint64_t number;  // 0: none
  uint64_t barriers;
};
static __thread struct vprof_share current __attribute__((tls_model("initial-exec")));

static uint64_t barrier_object(uint64_t region, uint64_t barrier) {
  return UINT64_C(1) << 63 | region << 24 | (barrier & 0xffffff);  // no address
}

enum { kEnd = 0 };  // the barrier at the end; those within begin at 1

static void arrive(uint64_t object) {
  struct vprof_release release;
  vprof_release_begin(&release, VPROF_CLASS_BARRIER, object, false);
  vprof_release_write_seen(&release, VPROF_EV_RELEASE_BARRIER, 0);
}

static void run_share(void* argument) {
  struct vprof_region* region = argument;
  const struct vprof_share outer = current;
  current = (struct vprof_share){region->number, kEnd};
  region->function(region->data);
  current = outer;
  const uint64_t object = barrier_object(region->number, kEnd);
  if (region->thread != &current) {
    arrive(object);
  } else if (vprof_sync_on(VPROF_CLASS_BARRIER)) {
    region->wait = vprof_call_begin(VPROF_EV_WAIT_BARRIER, object, false);
  }
}

static struct vprof_region region_begin(void (*function)(void*), void* data) {
  static atomic_uint_fast64_t regions;
  const struct vprof_region region = {
      function, data, atomic_fetch_add(&regions, 1) + 1, &current, {0}};
  return region;
}

static void region_end(struct vprof_region* region) {
  if (region->wait.waiters != NULL) {
    vprof_wait_end(&region->wait);
  }
}

// Without libgomp only a mistake can call these; a region of one thread is valid. Regions and
// barriers are counted in a pause, too, since recording may begin within a region.
#define REGION(name, ...)                                    \
  const struct vprof_real* real = vprof_real_functions();    \
  if (real->name == NULL) return function(data);             \
  if (!vprof_sync_wanted(VPROF_CLASS_BARRIER)) {             \
    real->name(function, data, __VA_ARGS__);                 \
    return;                                                  \
  }                                                          \
  struct vprof_region region = region_begin(function, data); \
  real->name(run_share, &region, __VA_ARGS__);               \
  region_end(&region)

#define PARALLEL(name, parameters)        \
  VPROF_CANCELLABLE void name parameters; \
  VPROF_CANCELLABLE void name parameters

PARALLEL(GOMP_parallel, (void (*function)(void*), void* data, unsigned threads, unsigned flags)) {
  REGION(GOMP_parallel, threads, flags);
}
PARALLEL(GOMP_parallel_sections,
         (void (*function)(void*), void* data, unsigned threads, unsigned count, unsigned flags)) {
  REGION(GOMP_parallel_sections, threads, count, flags);
}

#define CHUNKED(name)                                                                        \
  PARALLEL(name, (void (*function)(void*), void* data, unsigned threads, long from, long to, \
                  long by, long chunk, unsigned flags)) {                                    \
    REGION(name, threads, from, to, by, chunk, flags);                                       \
  }
CHUNKED(GOMP_parallel_loop_static)
CHUNKED(GOMP_parallel_loop_dynamic)
CHUNKED(GOMP_parallel_loop_guided)
CHUNKED(GOMP_parallel_loop_nonmonotonic_dynamic)
CHUNKED(GOMP_parallel_loop_nonmonotonic_guided)

#define UNCHUNKED(name)                                                                      \
  PARALLEL(name, (void (*function)(void*), void* data, unsigned threads, long from, long to, \
                  long by, unsigned flags)) {                                                \
    REGION(name, threads, from, to, by, flags);                                              \
  }
UNCHUNKED(GOMP_parallel_loop_runtime)
UNCHUNKED(GOMP_parallel_loop_nonmonotonic_runtime)
UNCHUNKED(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

// A thread counts itself among those that wait before it looks for others. So of two that arrive
// together one sees the other.
#define BARRIER(name)                                                           \
  PARALLEL(name, (void)) {                                                      \
    const struct vprof_real* real = vprof_real_functions();                     \
    if (real->name == NULL) return;                                             \
    if (current.number == 0) return real->name();                               \
    const uint64_t object = barrier_object(current.number, ++current.barriers); \
    if (!vprof_sync_on(VPROF_CLASS_BARRIER)) return real->name();               \
    VPROF_WAIT wait = vprof_call_begin(VPROF_EV_WAIT_BARRIER, object, false);   \
    if (atomic_load(&wait.waiters->count) > 1) arrive(object);                  \
    real->name();                                                               \
  }
BARRIER(GOMP_barrier)
BARRIER(GOMP_loop_end)
BARRIER(GOMP_sections_end)
