/* What C grew since 1989: _Generic, designated initialisers, compound literals, bit-fields, atomics, attributes,
   static initialisers, inline and variadic functions, asm. Names and text are UTF-8: größe, "→". */
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

struct point { int x, y; unsigned low : 3, high : 5; };
struct line { struct point from, to; };

__attribute__((noinline)) static int step(int x) { for (volatile int i = 0; i < 1; ++i) ++x; return x; }
__attribute__((noinline)) static double half(double x) { for (volatile int i = 0; i < 1; ++i) x /= 2; return x; }
__attribute__((noinline)) static struct point at(int x) { struct point p = {.x = step(x), .y = step(step(x))}; return p; }
__attribute__((noinline)) static int length(const struct line *l) { return step(l->to.x - l->from.x); }
__attribute__((noinline, pure)) static int sum(int count, ...) {
  va_list all;
  int total = 0;
  va_start(all, count);
  while (count-- > 0) total += va_arg(all, int);
  va_end(all);
  return total;
}
static inline __attribute__((always_inline)) int größe(int x) { return step(x) + step(x); }
int renamed(int x) __asm__("another_name");
__attribute__((noinline, used)) int renamed(int x) { return step(x); }

#define SIZED(x) _Generic((x), int: step((int)(x)), double: (int)half((double)(x)))

[[maybe_unused]] static int run(int n) {
  static int once = 3;
  static int (*const table[])(int) = {step, größe, [2] = renamed};
  struct line l = {.from = at(n), .to = {.y = 1, .x = step(9)}};
  // The compound literal must live until the block ends.
  // CHECK: const struct line *kept = &(struct line){at(1), at(n)};
  const struct line *kept = &(struct line){at(1), at(n)};
  int values[] = {[3] = step(1), [1] = step(2), step(3)};
  atomic_int counter = 0;
  once += step(once);
  l.from.low = (unsigned)step(n) & 7;
  l.from.high = l.from.low + (unsigned)step(2);
  counter += step(4);
  atomic_fetch_add(&counter, step(5));
  // CHECK: int x = VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) sum(3, VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) step(1) VPROF_EXPR_END, VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) step(2) VPROF_EXPR_END, VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) step(3) VPROF_EXPR_END) VPROF_EXPR_END;
  int x = sum(3, step(1), step(2), step(3));
  // Not evaluated: left alone. A constant expression stays one.
  x += (int)sizeof(step(1)) + _Generic(step(1), int: 1, default: 2);
  _Static_assert(sizeof(at(1)) == sizeof(struct point), "size");
  x += SIZED(n) + SIZED(4.0);
  __asm__ volatile("" : "+r"(x) : "r"(step(x)) : "memory");
  // CHECK: x += VPROF_EXPR({{[0-9]+}}) table[n % 3](n) VPROF_EXPR_END;
  x += table[n % 3](n);
  // CHECK: { VPROF_SITE({{[0-9]+}}); printf("größe → %d\n", VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) größe(n) VPROF_EXPR_END); }
  printf("größe → %d\n", größe(n));
  return x + length(&l) + length(kept) + values[1] + values[2] + values[3] + once + (int)l.from.high + counter;
}

int main(void) {
  printf("%d\n", run(1));
  printf("%d\n", run(5));
  return 0;
}
// FLAGS: -std=gnu2x -Wno-unknown-warning-option
// EXPAND: EVERYTHING
