// Pragmas that are about a whole block must stay the first in it, and local labels the next.
// COMPILERS: clang
// FLAGS: -std=gnu11 -O1
#include <stdio.h>
static double scaled(double a, int n) {
#pragma STDC FP_CONTRACT OFF
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += a * i;
  return sum;
}
static double two(double a, int n) {
#pragma clang fp contract(off)
  __label__ again;
  int k = 0;
again:
  a += scaled(a, n);
  if (++k < 3) goto again;
  return a;
}
int main(void) { printf("%.1f %.1f\n", scaled(2, 4), two(1, 2)); return 0; }
