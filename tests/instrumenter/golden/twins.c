/* FLAGS: -Wredundant-decls -Wunused-macros -Wmissing-prototypes -Wno-error=missing-prototypes
   Twins of an armed program: the sites of a function are in a copy of it, which runs while one of them is on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((noinline)) static int work(int x) {
  for (volatile int i = 0; i < 3; ++i) printf("%d", x + i);
  return x + 1;
}

// ARMED: VPROF_TWIN_BEGIN VPROF_TWIN int twice_vprof_measured(int x); VPROF_TWIN_END int twice(int x) { VPROF_GATE({{[0-9]+}}) { return twice_vprof_measured(x); } {
// ARMED: }}
// ARMED: VPROF_TWIN_BEGIN
// ARMED: int twice_vprof_measured(int x) {
int twice(int x) {
  x = work(x);
  printf("%s at %d of %s\n", __func__, __LINE__, strrchr(__FILE__, 't'));
  return work(x);
}

// Nothing else reaches it, so the gate of its caller stands for it.
// ARMED-NOT: VPROF_GATE({{[0-9]+}}) { nested_{{vprof}}_measured
static void nested(const char *text) { printf("%s in %s\n", text, __FUNCTION__); work(1); work(2); }
void outer(void) {
  // ARMED: { VPROF_TWIN_{{.*}} nested_vprof_measured("nested(x)"); }
  nested("nested(x)");
  work(3);
}

// Clang says that it is GCC 4, so the index has a function here that GCC does not see.
// ARMED: x = VPROF_TWIN_{{.*}} swapped(x) VPROF_EXPR_END;
#if __GNUC__ > 4
#define swapped(x) ({ int y = work(x); work(y + 1); work(y); })
#else
static int swapped(int x) { x = work(x); work(x + 1); return work(x); }
#endif
int swaps(int x) {
  x = work(x);
  x = swapped(x);
  return work(x);
}

// A copy would have a counter of its own.
// ARMED-NOT: counts_{{vprof}}_measured
int counts(void) { static int count; work(count); return ++count; }
#define ONCE(text) do { static int done; if (!done++) puts(text); } while (0)
void once(void) { ONCE("once"); work(4); }

// ARMED-NOT: sum_{{vprof}}_measured
int sum(int n, ...) {
  va_list list;
  va_start(list, n);
  int total = work(n);
  while (n-- > 0) total += va_arg(list, int);
  va_end(list);
  return total;
}

// Recursive, and called before it is defined.
static int even(int n);
int evens(int n) { n = even(n) + work(1); return n; }
static int odd(int n) { return n == 0 ? 0 : work(0) + even(n - 1) - 1; }
static int even(int n) { return n == 0 ? 1 : work(0) + odd(n - 1) - 1; }

struct pair { int a, b; };
struct pair by_value(struct pair p, const char names[2][4]) {
#if 1
  p.a = work(p.a);
#else
  this is not C }
#endif
  int work_twice = (work)(p.b);
  if (work_twice > 5) goto out;
  puts(names[1]);
out:
  return p;
}

// A barrier means the same in a copy, a symbol of the assembler does not.
// ARMED: VPROF_GATE({{[0-9]+}}) { return barrier_{{vprof}}_measured(x); }
int barrier(int x) { x = work(x); __asm__ volatile("" ::: "memory"); return work(x); }
int barrier_1(int x) { return barrier(x + 1); }
int barrier_2(int x) { return barrier(x + 2); }
int barrier_3(int x) { return barrier(x + 3); }
int barrier_4(int x) { return barrier(barrier_1(barrier_2(barrier_3(x)))); }
// ARMED-NOT: symbol_{{vprof}}_measured
int symbol(int x) { x = work(x); __asm__ volatile("symbol_in_twins: nop"); return work(x); }

// A directive that a second reading would find changed.
// ARMED-NOT: redefines_{{vprof}}_measured
int redefines(void) {
#define LOCAL 7
  int x = work(LOCAL);
#undef LOCAL
#define LOCAL 8
  return work(x) + LOCAL;
}

static jmp_buf place;
void jumps(int n) { work(n); if (n > 2) longjmp(place, n); work(n); }
int returns_twice(void) {
  volatile int tries = 0;
  int n = setjmp(place);
  if (tries++ < 2) jumps(n + 3);
  return n;
}

typedef int handler(int);
static int handled(int x) { x = work(x); return work(x); }
static handler *const handlers[] = {handled, twice};
void apply(int x) { for (unsigned i = 0; i < 2; ++i) x = handlers[i](x); printf("%d\n", x); }

/* `inline` and a head over several lines. */
static inline
int  // of what
several_lines(int a,
              int b)
{
  a = work(a);
  return a * work(b);
}

/* `inline` from a macro, and of another declaration. */
#define LOCAL_FUNCTION static inline
LOCAL_FUNCTION int by_macro(int x) { x = work(x); return work(x); }
static inline int declared(int x);
static int declared(int x) { x = work(x); return work(x); }
__attribute__((always_inline)) static inline int always(int x) { x = work(x); return work(x); }

// The `}` is behind an escaped end of line.
void escaped(int x) {
  x = work(x);
  printf("%d\n", \
         work(x));\
}

_Noreturn static void leave(int code) { work(code); fflush(stdout); _Exit(code); }

int main(void) {
  const char names[2][4] = {"one", "two"};
  printf("%d\n", twice(1));
  outer();
  printf("%d\n", swaps(1));
  counts();
  once();
  once();
  printf("%d\n", counts());
  printf("%d\n", sum(2, 3, 4));
  printf("%d\n", even(5));
  printf("%d\n", evens(4));
  struct pair p = by_value((struct pair){1, 2}, names);
  printf("%d %d\n", p.a, p.b);
  printf("%d\n", barrier_4(1));
  printf("%d\n", symbol(2));
  printf("%d\n", redefines());
  printf("%d\n", returns_twice());
  apply(1);
  printf("%d\n", several_lines(2, 3));
  escaped(1);
  printf("%d\n", by_macro(1));
  printf("%d\n", declared(2));
  printf("%d\n", always(3));
  leave(3);
}
