/* Carriage returns stay where they are. */
#include <stdio.h>
__attribute__((noinline)) static int f(int n) { while (n > 9) --n; return n; }
int main(void) {
  int x = f(12);
  f(1);
  printf("%d %d\n", x, __LINE__);
  return 0;
}
