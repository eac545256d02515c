/* The annotations as users write them; included by a C and a C++ file, with and without
 * VPROF_ENABLED. */
#include <vprof/annotations.h>

int handle(uint64_t request, const char* kind);
int handle(uint64_t request, const char* kind) {
  uint64_t only_for_us = request + 1;
  vprof_begin(request);
  vprof_label(request, kind);
  vprof_trace_context(request, kind);
  vprof_work(request, 3);
  vprof_switch(only_for_us);
  vprof_switch(0);
  vprof_task_created(request);
  vprof_task_taken(request);
  vprof_end(request);
  return 0;
}
