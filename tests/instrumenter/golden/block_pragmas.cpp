// Pragmas that are about a whole block must stay the first in it.
// COMPILERS: clang
// FLAGS: -std=c++17 -O1
#include <cstdio>

// CHECK: double sca{{led}}(double a, int n) {
// CHECK-NEXT: #pra{{gma}} STDC FENV_ACCESS ON
// CHECK-NEXT: {{VPROF_FUNCTION.[0-9]+.;}} double sum = 0;
double scaled(double a, int n) {
#pragma STDC FENV_ACCESS ON
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    sum += a * i;
  }
  return sum;
}

// CHECK: double sev{{eral}}(double a, int n) {
// CHECK: #pra{{gma}} float_control(precise, on)
// CHECK: // A {{comment}}.
// CHECK-NEXT: {{VPROF_FUNCTION_N.[0-9]+, 1.;}} double sum = {{.*}}scaled(a, n)
double several(double a, int n) {
  // First.
#pragma clang fp contract(off)  // Second.
#pragma float_control(precise, on)
  // A comment.
  double sum = scaled(a, n);
  while (sum > 100) sum -= 7;
  return sum;
}

// Other pragmas are about what follows.
// CHECK: double unrolled(double a, int n) { VPROF_FUNCTION
double unrolled(double a, int n) {
#pragma clang loop unroll_count(4)
  for (int i = 0; i < n; ++i) {
    a += scaled(a, 2);
  }
  return a;
}

// CHECK: double only(double a) { VPROF_FUNCTION
double only(double a) { for (int i = 0; i < 3; ++i) a += several(a, i); return a; }

int main() {
  std::printf("%.1f %.1f %.1f\n", several(3, 20), unrolled(1, 3), only(2));
}
