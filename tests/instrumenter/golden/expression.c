/* Rule 2: a C call inside an expression. */
#include <stdio.h>
#include <stdlib.h>

struct pair { int a, b; };

__attribute__((noinline)) static int twice(int x) { for (int i = 0; i < 1; ++i) x *= 2; return x; }
__attribute__((noinline)) static struct pair make(int a, int b) {
  struct pair p = {a, b};
  while (p.a < 0) ++p.a;
  return p;
}
__attribute__((noinline)) static int sum(const struct pair *p) { int s = 0; for (int i = 0; i < 1; ++i) s = p->a + p->b; return s; }
__attribute__((noinline)) static void nothing(void) { for (volatile int i = 0; i < 1; ++i) {} }

// CHECK: static int run(int n)
static int run(int n) {
  // CHECK: int x = VPROF_EXPR({{[0-9]+}}) twice(n) VPROF_EXPR_END;
  int x = twice(n);
  // CHECK: x += VPROF_EXPR({{[0-9]+}}) twice(VPROF_EXPR({{[0-9]+}}) twice(x) VPROF_EXPR_END + 1) VPROF_EXPR_END;
  x += twice(twice(x) + 1);
  // CHECK: if (VPROF_EXPR({{[0-9]+}}) twice(x) VPROF_EXPR_END > 3 && VPROF_EXPR({{[0-9]+}}) twice(n) VPROF_EXPR_END)
  if (twice(x) > 3 && twice(n)) ++x;
  // CHECK: x = n > 2 ? VPROF_EXPR({{[0-9]+}}) twice(1) VPROF_EXPR_END : VPROF_EXPR({{[0-9]+}}) twice(2) VPROF_EXPR_END;
  x = n > 2 ? twice(1) : twice(2);
  // CHECK: struct pair p = VPROF_EXPR({{[0-9]+}}) make(x, 2) VPROF_EXPR_END;
  struct pair p = make(x, 2);
  // CHECK: x += VPROF_EXPR({{[0-9]+}}) make(3, 4) VPROF_EXPR_END.b;
  x += make(3, 4).b;
  // A compound literal lives until its block ends: a statement expression would end it early.
  // CHECK: x += sum(&(struct pair){5, 6});
  x += sum(&(struct pair){5, 6});
  // CHECK: (VPROF_EXPR({{[0-9]+}}) nothing() VPROF_EXPR_END, x++);
  (nothing(), x++);
  // CHECK: for (int i = VPROF_EXPR({{[0-9]+}}) twice(0) VPROF_EXPR_END; i < VPROF_EXPR({{[0-9]+}}) twice(1) VPROF_EXPR_END; i += VPROF_EXPR({{[0-9]+}}) twice(1) VPROF_EXPR_END)
  for (int i = twice(0); i < twice(1); i += twice(1)) x += sum(&p);
  // Not evaluated: left alone.
  // CHECK: x += (int)sizeof(twice(1));
  x += (int)sizeof(twice(1));
  // CHECK: return VPROF_EXPR({{[0-9]+}}) twice(x) VPROF_EXPR_END;
  return twice(x);
}

int main(void) {
  printf("%d\n", run(3));
  return 0;
}
// EXPAND: run
