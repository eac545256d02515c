// OpenMP in C++: an expression in a region has no place in the frame, so its callee is measured at its entry.
// FLAGS: -fopenmp -std=c++17
// COMPILERS: gcc
#include <omp.h>

#include <cstdio>
#include <string>
#include <vector>

static int step(int i) {
  int sum = 0;
  for (int k = 0; k < i; ++k) sum += k;
  return sum;
}
static std::string text(int i) { return std::to_string(step(i)); }
static void note(std::vector<std::string>& all, int i) { all[i] = text(i); }

int main() {
  int sum = 0;
  std::vector<std::string> all(9);
// CHECK: sum += {{step}}(i);
// CHECK-NEXT: { VPROF_{{SITE|CALL}}({{[0-9, ]+}}); note(all, i); }
#pragma omp parallel for reduction(+ : sum) num_threads(3)
  for (int i = 0; i < 9; ++i) {
    sum += step(i);
    note(all, i);
  }
#pragma omp parallel sections
  {
#pragma omp section
    note(all, 1);
#pragma omp section
    note(all, 2);
  }
#pragma omp critical
  note(all, 3);
  const int outside = step(5) + step(6);
  std::printf("%d %d %s %d\n", sum, outside, all[8].c_str(), omp_get_max_threads() > 0);
}
