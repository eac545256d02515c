// An instrumented library that programs load at run time.
#include <vprof/runtime/scope.h>

extern "C" __attribute__((visibility("default"))) void plugin_work(int calls);

static __attribute__((noinline)) void inner() {
  VPROF_FUNCTION(71);
  __asm__ __volatile__("");
}

void plugin_work(int calls) {
  VPROF_FUNCTION(70);
  for (int i = 0; i < calls; ++i) {
    inner();
  }
}
