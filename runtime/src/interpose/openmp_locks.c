// Locks of OpenMP: `critical` as gcc compiles it, and omp_set_lock and its like, which clang's
// libomp has as well. They count as mutexes; reports call a wait for one `wait(OpenMP lock)`.
//
// Without a library of OpenMP, a program with weak references to these functions may call ours.
// Then there is nothing to lock.
#define _GNU_SOURCE
#include "interpose/interpose.h"

// All critical sections without a name are one lock.
static const char unnamed;

// After a call that got the lock, and was recorded as a wait or did not take long enough for one.
static void got(uint64_t lock, uint32_t waits_before) {
  if (vprof_self.waits == waits_before) {
    vprof_acquired(VPROF_CLASS_MUTEX, VPROF_EV_ACQUIRE_MUTEX, 0, lock, false);
  }
}

// A function of OpenMP and its prototype, without which a definition would be a mistake.
#define OPENMP(result, name, parameters) \
  VPROF_RT_API result name parameters;   \
  VPROF_RT_API result name parameters

#define TIMED(lock, name, ...)                                                               \
  const uint32_t waits_before = vprof_self.waits;                                            \
  {                                                                                          \
    VPROF_WAIT wait = vprof_call_begin(VPROF_EV_WAIT_OPENMP_LOCK, (uintptr_t)(lock), false); \
    real->name(__VA_ARGS__);                                                                 \
  }                                                                                          \
  got((uintptr_t)(lock), waits_before)

#define GIVE_UP(lock, name, ...)                                              \
  const struct vprof_real* real = vprof_real_functions();                     \
  if (real->name == NULL) return;                                             \
  struct vprof_release release;                                               \
  vprof_release_begin(&release, VPROF_CLASS_MUTEX, (uintptr_t)(lock), false); \
  real->name(__VA_ARGS__);                                                    \
  vprof_release_end(&release, VPROF_EV_RELEASE_MUTEX, 0)

// ---- critical sections, which cannot be tried

#define ENTER(lock, name, ...)                                           \
  const struct vprof_real* real = vprof_real_functions();                \
  if (real->name == NULL) return;                                        \
  if (!vprof_sync_on(VPROF_CLASS_MUTEX)) return real->name(__VA_ARGS__); \
  TIMED(lock, name, __VA_ARGS__)

// NOLINTBEGIN(readability-identifier-naming): libgomp's names
OPENMP(void, GOMP_critical_start, (void)) { ENTER(&unnamed, GOMP_critical_start); }
OPENMP(void, GOMP_critical_end, (void)) { GIVE_UP(&unnamed, GOMP_critical_end); }
OPENMP(void, GOMP_critical_name_start, (void** name)) {
  ENTER(name, GOMP_critical_name_start, name);
}
OPENMP(void, GOMP_critical_name_end, (void** name)) { GIVE_UP(name, GOMP_critical_name_end, name); }
// NOLINTEND(readability-identifier-naming)

// ---- locks

#define SET(try, name)                                                     \
  const struct vprof_real* real = vprof_real_functions();                  \
  if (real->name == NULL) return;                                          \
  if (!vprof_sync_on(VPROF_CLASS_MUTEX)) return real->name(lock);          \
  if (real->try(lock) != 0) return got((uintptr_t)lock, vprof_self.waits); \
  TIMED(lock, name, lock)

#define TEST(name)                                         \
  const struct vprof_real* real = vprof_real_functions();  \
  if (real->name == NULL) return 1;                        \
  const int result = real->name(lock);                     \
  if (result != 0) got((uintptr_t)lock, vprof_self.waits); \
  return result

OPENMP(void, omp_set_lock, (void* lock)) { SET(omp_test_lock, omp_set_lock); }
OPENMP(int, omp_test_lock, (void* lock)) { TEST(omp_test_lock); }
OPENMP(void, omp_unset_lock, (void* lock)) { GIVE_UP(lock, omp_unset_lock, lock); }
OPENMP(void, omp_set_nest_lock, (void* lock)) { SET(omp_test_nest_lock, omp_set_nest_lock); }
OPENMP(int, omp_test_nest_lock, (void* lock)) { TEST(omp_test_nest_lock); }
OPENMP(void, omp_unset_nest_lock, (void* lock)) { GIVE_UP(lock, omp_unset_nest_lock, lock); }
