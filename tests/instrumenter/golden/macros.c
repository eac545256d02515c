/* Rule 4: a call inside a macro is wrapped with its whole expansion, if that is an expression or a statement. */
#include <stdio.h>

__attribute__((noinline)) static int work(int n) { int s = 0; for (int i = 0; i < n; ++i) s += i; return s; }
__attribute__((noinline)) static int other(int n) { int s = 1; for (int i = 0; i < n; ++i) s ^= i; return s; }
static int cell;
__attribute__((noinline)) static int *place(int n) { while (n > 1) --n; return &cell + (n - n); }

#define WORK(n) work((n) + 1)
#define BOTH(n) (work(n) + other(n))
#define DO_WORK(n) do { if (n) cell += work(n); } while (0)
#define PLACE(n) (*place(n))
struct point { int x; unsigned flag : 1; };
static struct point points[4];
static int rows[4][2] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
#define POINT(n) (points[work(n) & 3])
#define FLAG(n) (points[work(n) & 3].flag)
#define ROW(n) (rows[work(n) & 3])
#define SEVERAL(n) cell += work(n); cell += other(n)
#define COMPLETE(n) work(n); other(n);
#define VALUES(v, n) int v = 1; cell += v + work(n)
#define TWICE(x) ((x) + (x))
#define NAME(x) #x
#define ALIAS work
#define DECLARE(v, n) int v = work(n)
#define FIRST work(1) +

static int run(int n) {
  // CHECK: int x = VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) WORK(n) VPROF_EXPR_END;
  int x = WORK(n);
  // CHECK: x += VPROF_EXPR({{[0-9]+}}) BOTH(n) VPROF_EXPR_END;
  x += BOTH(n);
  // CHECK: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); DO_WORK(n); }
  DO_WORK(n);
  // An lvalue must stay one.
  // CHECK: VPROF_LVALUE({{[0-9]+}}) PLACE(n) VPROF_LVALUE_END = x;
  PLACE(n) = x;
  // CHECK: VPROF_LVALUE({{[0-9]+}}) POINT(n) VPROF_LVALUE_END.x = 3;
  POINT(n).x = 3;
  // CHECK: x += (int)sizeof(ROW(n)) + VPROF_LVALUE({{[0-9]+}}) ROW(n) VPROF_LVALUE_END[1];
  x += (int)sizeof(ROW(n)) + ROW(n)[1];
  // A bit-field has no address.
  // CHECK: FLAG(n) = 1;
  FLAG(n) = 1;
  // Several statements of one block.
  // CHECK: { VPROF_SITE({{[0-9]+}}); SEVERAL(n); }
  SEVERAL(n);
  // CHECK: { VPROF_SITE({{[0-9]+}}); COMPLETE(n) }
  COMPLETE(n)
  // CHECK: if (n) SEVERAL(n);
  if (n) SEVERAL(n);
  // CHECK: VALUES(z, n);
  VALUES(z, n);
  cell += z;
  // CHECK: x += VPROF_EXPR({{[0-9]+}}) PLACE(n) VPROF_EXPR_END;
  x += PLACE(n);
  // An argument that the macro repeats or turns into a string must stay as it is spelled.
  // CHECK: x += VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) TWICE(work(n)) VPROF_EXPR_END;
  x += TWICE(work(n));
  // CHECK: puts(NAME(work(n)))
  puts(NAME(work(n)));
  // CHECK: x += VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) ALIAS(2) VPROF_EXPR_END;
  x += ALIAS(2);
  // CHECK: DECLARE(y, 3);
  DECLARE(y, 3);
  // CHECK: x += FIRST 2;
  x += FIRST 2;
  return x + y;
}

int main(void) {
  printf("%d\n", run(4));
  return 0;
}
// FLAGS: -Wno-multistatement-macros -Wno-misleading-indentation -Wno-unknown-warning-option -Wno-declaration-after-statement
// EXPAND: run
