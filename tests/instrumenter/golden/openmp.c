/* OpenMP in C: regions are ordinary code; the heads of loops and atomic updates stay as they are. GCC has its own omp.h. */
// FLAGS: -fopenmp
// COMPILERS: gcc
#include <omp.h>
#include <stdio.h>

static int limit(void) {
  volatile int n = 8;
  for (int i = 0; i < 1; ++i) n += i;
  return n;
}
static int step(int i) {
  int sum = 0;
  for (int k = 0; k < i; ++k) sum += k;
  return sum;
}

int main(void) {
  int sum = 0, atomic = 0, tasks = 0;
// CHECK: for (int i = 0; i < {{limit}}(); ++i) {
// CHECK-NEXT: sum += VPROF_CALL_EXPR({{[0-9, ]+}}) step(i) VPROF_EXPR_END
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < limit(); ++i) {
    sum += step(i);
  }
// CHECK: for (int i = 0; i < {{limit}}(); ++i){{$}}
// CHECK-NEXT: for (int k = 0; k < {{limit}}(); ++k)
#pragma omp parallel for collapse(2) reduction(+ : sum)
  for (int i = 0; i < limit(); ++i)
    for (int k = 0; k < limit(); ++k) sum += step(i + k);
#pragma omp parallel num_threads(2)
  {
// CHECK: atomic += {{step}}(3);
#pragma omp atomic
    atomic += step(3);
#pragma omp critical
    step(4);
#pragma omp single
    for (int i = 0; i < 4; ++i) {
#pragma omp task shared(tasks)
      {
        int one = step(i);
#pragma omp atomic
        tasks += one;
      }
    }
  }
  printf("%d %d %d %d\n", sum, atomic, tasks, omp_get_max_threads() > 0);
  return 0;
}
