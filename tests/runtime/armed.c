// A program as `vprof live` builds it.
#define VPROF_ARMED 1
#define VPROF_COLD_SITES 1
#include <vprof/runtime/scope.h>

static void function(void) { VPROF_FUNCTION(1); }

int main(void) {
  for (int i = 0; i < 4; ++i) {
    function();
  }
  return 0;
}
