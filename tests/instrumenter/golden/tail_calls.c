/* Nothing may follow a call that must become a jump.
   COMPILERS: clang
   FLAGS: -std=gnu11 -O1
   UNWRAPPED: in a function that cannot be instrumented: its tail call is guaranteed (musttail) */
#include <stdio.h>

static unsigned long steps;

// CHECK: static int last(int a, int b) { VPROF_FUNCTION({{[0-9]+}});
static int last(int a, int b) {
  int sum = 0;
  for (int i = a; i < b; ++i) {
    sum += i;
  }
  ++steps;
  return sum;
}

static int odd(int a, int b);

// CHECK: static int ev{{en}}(int a, int b) {
// CHECK-NEXT: int more = la{{st}}(0, 3);
// CHECK-NEXT: if (a == {{0}}) {
static int even(int a, int b) {
  int more = last(0, 3);
  if (a == 0) {
    __attribute__((musttail)) return last(b, b + last(more, 7));
  }
  __attribute__((musttail)) return odd(a - 1, b + 1);
}

static int odd(int a, int b) {
  if (a == 0) {
    printf("odd\n");
    return last(b, 2 * b);
  }
  __attribute__((musttail)) return even(a - 1, b + 1);
}

__attribute__((no_instrument_function)) static int spared(int a, int b) {
  int more = last(0, 2);
  __attribute__((musttail)) return last(a + more, b);
}

#define JUMP __attribute__((musttail)) return
static int dispatch(int a, int b) {
  switch (a & 3) {
    case 0: JUMP even(a, b);
    case 1: JUMP odd(a, b);
    default: break;
  }
  return last(a, b);
}

/* A frame for each of the calls would need more stack than there is. */
int main(void) {
  // CHECK: printf("%d\n", (VPROF_{{.*}}last(1, 9)
  printf("%d\n", (last(1, 9)));
  printf("%d\n", spared(1, 5));
  printf("%d %d\n", dispatch(2000000, 1), dispatch(2000001, 1));
  return (int)(steps & 63);
}
