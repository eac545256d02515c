/* What generators and macros leave behind: #line of another file, X-macros, functions that macros define or name,
   a .c file that includes itself with other #defines (a template by inclusion). */
#ifndef NAME
#include <stdio.h>

__attribute__((noinline)) static int step(int x) { for (volatile int i = 0; i < 1; ++i) ++x; return x; }

#define COLOURS(X) X(red, 1) X(green, 2) X(blue, 3)
#define DEFINE(name, value) static int name(int x) { return step(x) * (value); }
COLOURS(DEFINE)

#define METHOD(name) static int method_##name(int x)
// CHECK: METHOD(grow) { VPROF_FUNCTION({{[0-9]+}});
METHOD(grow) {
  return step(step(x));
}

#define NAME int_pool
#define TYPE int
#include "generated.c"
#undef NAME
#undef TYPE
#define NAME long_pool
#define TYPE long
#include "generated.c"

#define CONCAT(a, b) CONCAT_(a, b)
#define CONCAT_(a, b) a##b
#line 7 "grammar.y"
static int parse(int x) {
  int line = __LINE__;
  return step(x) + line;
}
#line 40 "generated.c"

int main(void) {
#define TELL(name, value) printf(#name " %d\n", name(value));
  COLOURS(TELL)
  printf("%d %d %d %d\n", method_grow(1), int_pool_add(2), (int)long_pool_add(3), parse(4));
  return 0;
}
// EXPAND: EVERYTHING
#else
#define JOIN(a, b) JOIN_(a, b)
#define JOIN_(a, b) a##_##b
// CHECK: static TYPE JOIN(NAME, add)(TYPE x) { VPROF_FUNCTION({{[0-9]+}});
static TYPE JOIN(NAME, add)(TYPE x) {
  return (TYPE)step((int)x) + (TYPE)sizeof(TYPE);
}
#endif
