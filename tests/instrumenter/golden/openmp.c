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

/* What other threads run is measured as a whole, unless it is a few instructions, a call by itself, or a directive must stand directly in
 * it. */
static int regions(void) {
  int done = 0, found = 0, counted = 0;
// CHECK: {{^#}}pragma omp parallel num_threads(2) reduction(+ : done)
// CHECK-NEXT: { VPROF_SITE({{[0-9]+}}); {
#pragma omp parallel num_threads(2) reduction(+ : done)
  {
    for (int k = 0; k < 9; ++k) done += k;
// A region within it is in that scope already.
// CHECK: {{^#}}pragma omp for
// CHECK-NEXT: for (int i = 0; i < 4; ++i) {
#pragma omp for
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < i; ++k) done += k;
    }
// CHECK: } }
  }
// CHECK: {{^#}}pragma omp parallel for
// CHECK-NEXT: for (int i = 0; i < 4; ++i) { VPROF_SITE({{[0-9]+}}); for (int k = 0; k < i; ++k) done += VPROF_CALL_EXPR({{[0-9, ]+}}) step(k) VPROF_EXPR_END; }
#pragma omp parallel for num_threads(2) reduction(+ : done)
  for (int i = 0; i < 4; ++i) for (int k = 0; k < i; ++k) done += step(k);
// CHECK: {{^#}}pragma omp single
// CHECK-NEXT: { VPROF_SITE({{[0-9]+}}); {
#pragma omp parallel num_threads(2)
#pragma omp single
  {
    for (int i = 0; i < 4; ++i) {
// CHECK: {{^#}}pragma omp task
// CHECK-NEXT: {{^}}      for (int k = 0; k < 3; ++k){{$}}
#pragma omp task shared(counted)
      for (int k = 0; k < 3; ++k)
// CHECK: {{^#}}pragma omp atomic
// CHECK-NEXT: {{^}}        counted += k + i;{{$}}
#pragma omp atomic
        counted += k + i;
    }
  }
// CHECK: {{^#}}pragma omp parallel sections
// CHECK-NEXT: {{^}}  {{{$}}
// CHECK: {{^#}}pragma omp section
// CHECK-NEXT: { VPROF_SITE({{[0-9]+}}); {
#pragma omp parallel sections num_threads(2) reduction(+ : done)
  {
#pragma omp section
    {
      for (int k = 0; k < 5; ++k) done += k;
    }
#pragma omp section
    done += 1;
  }
// CHECK: {{^#}}pragma omp parallel
// CHECK-NEXT: {{^}}  {{{$}}
#pragma omp parallel num_threads(2)
  {
#pragma omp for
    for (int i = 0; i < 4; ++i) {
      for (int k = 0; k < i; ++k) {
#pragma omp atomic write
        found = 1;
      }
#pragma omp cancel for
    }
  }
// CHECK: {{^#}}pragma omp parallel
// CHECK-NEXT: {{^}}  { counted += 0; }
#pragma omp parallel num_threads(2)
  { counted += 0; }
  return done + found + counted;
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
  printf("%d %d %d %d %d\n", sum, atomic, tasks, regions(), omp_get_max_threads() > 0);
  return 0;
}
