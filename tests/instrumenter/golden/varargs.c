/* Varargs callees, alloca, VLAs, computed goto, statement expressions of the user, designated initialisers, bit-fields. */
/* COMPILERS: gcc clang */
/* FLAGS: -Wno-gnu -std=gnu11 */
#include <alloca.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct bits { unsigned low : 3, high : 5; };

__attribute__((noinline)) static int add_all(int n, ...) {
  va_list list;
  int s = 0;
  va_start(list, n);
  for (int i = 0; i < n; ++i) s += va_arg(list, int);
  va_end(list);
  return s;
}

__attribute__((noinline)) static int length(const char *s) { int n = 0; while (s[n]) ++n; return n; }

static int jumps(int n) {
  static const void *const table[] = {&&zero, &&one, &&end};
  int x = 0;
  goto *table[n];
zero:
  x += add_all(2, 1, 2);
one:
  x += add_all(1, 10);
end:
  return x;
}

static int run(int n) {
  char vla[n + add_all(1, 1)];
  // CHECK: char *p = alloca(16);
  char *p = alloca(16);
  strcpy(p, "alloca");
  memset(vla, 'x', sizeof vla);
  vla[n] = 0;
  struct bits b = {.low = (unsigned)add_all(1, 3), .high = (unsigned)length(vla)};
  // CHECK: ({ int t = VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) length(p) VPROF_EXPR_END; VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) add_all(2, t, 1) VPROF_EXPR_END; })
  int y = ({ int t = length(p); add_all(2, t, 1); });
  return y + (int)b.low + (int)b.high + add_all(3, 1, 2, 3) + _Generic(length(p), int: add_all(1, 5), default: 0);
}

int main(void) {
  printf("%d %d %d %d\n", run(4), jumps(0), jumps(1), jumps(2));
  return 0;
}
