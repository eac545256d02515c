#define _GNU_SOURCE
#include "base/real.h"

#include <dlfcn.h>
#include <stddef.h>

struct vprof_real vprof_real;

// Plain dlsym() returns the oldest version of pthread_cond_*, which works on another type.
static void* look_up(const char* name, const char* version) {
  void* found = version[0] != 0 ? dlvsym(RTLD_NEXT, name, version) : NULL;
  return found != NULL ? found : dlsym(RTLD_NEXT, name);
}

void vprof_real_init(void) {
  struct vprof_real found;
#define LOOK_UP(result, name, version, parameters) *(void**)&found.name = look_up(#name, version);
  VPROF_REAL_FUNCTIONS(LOOK_UP)
#undef LOOK_UP
  // The first member is stored last: once it is set, all are.
#define STORE(result, name, version, parameters) \
  if (offsetof(struct vprof_real, name) != 0)    \
    __atomic_store_n(&vprof_real.name, found.name, __ATOMIC_RELAXED);
  VPROF_REAL_FUNCTIONS(STORE)
#undef STORE
  __atomic_store_n(&vprof_real.pthread_mutex_lock, found.pthread_mutex_lock, __ATOMIC_RELEASE);
}

// For those that must not see the declaration with an ellipsis (system_calls/raw_calls.h).
long vprof_real_syscall(long number, long a, long b, long c, long d, long e, long f);
long vprof_real_syscall(long number, long a, long b, long c, long d, long e, long f) {
  return vprof_real_functions()->syscall(number, a, b, c, d, e, f);
}
