/* Rule 1: the statement is just the call. Branches, loops, labels and cases keep their shape. */
#include <stdio.h>

static int steps;

__attribute__((noinline)) static void step(int n) {
  for (int i = 0; i < n; ++i) steps += i;
}

// CHECK: static void run(int n) { VPROF_FUNCTION([[RUN:[0-9]+]]);
static void run(int n) {
  // CHECK: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(n); }
  step(n);
  // CHECK: if (n > 2) { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(1); } else { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(2); }
  if (n > 2) step(1); else step(2);
  // CHECK: for (int i = 0; i < 2; ++i) { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(i); }
  for (int i = 0; i < 2; ++i) step(i);
  // CHECK: do { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(3); } while (n < 0);
  do step(3); while (n < 0);
  // CHECK: while (n-- > 0) { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(n); }
  while (n-- > 0) step(n);
  switch (n) {
    // CHECK: case -1: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(4); } break;
    case -1: step(4); break;
    default: step(5);
  }
  goto last;
// CHECK: last: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); step(6); }
last: step(6);
}

int main(void) {
  run(5);
  printf("%d line %d\n", steps, __LINE__);
  return 0;
}
