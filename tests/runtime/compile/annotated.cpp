#include "annotated.h"

int handle_in_scope(uint64_t request);
int handle_in_scope(uint64_t request) {
  vprof::interval interval(request);
  vprof::interval labelled(request + 1, "GET");
  vprof::working_for other(request + 2);
  return 0;
}
