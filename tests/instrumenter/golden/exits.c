/* Every way out closes the scopes: return, fall-through, goto, longjmp past them. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf away;

__attribute__((noinline)) static int deep(int n) {
  for (volatile int i = 0; i < 1; ++i) {}
  if (n == 0) longjmp(away, 7);
  return n;
}

__attribute__((noinline)) static int leave(int n) {
  if (n == 1) return deep(1);
  if (n == 2) goto out;
  while (n > 3) {
    if (deep(n) == 5) return 5;
    --n;
  }
out:
  return deep(n);
}

// setjmp needs its own frame.
// CHECK: int code = setjmp(away);
static int guarded(int number) {
  volatile int n = number;
  int code = setjmp(away);
  if (code != 0) return -code;
  return leave(n);
}

int main(void) {
  for (int n = 0; n < 8; ++n) printf("%d ", guarded(n));
  printf("\n");
  return 0;
}
