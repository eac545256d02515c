/* Every way through a function: goto into and out of blocks, computed goto, switch, Duff's device, arrays of variable
   length, alloca, conditions of all loops, statement expressions of the user. */
#include <alloca.h>
#include <stdio.h>
#include <string.h>

__attribute__((noinline)) static int step(int x) { for (volatile int i = 0; i < 1; ++i) ++x; return x; }
__attribute__((noinline)) static void tell(const char *what, int x) { printf("%s %d\n", what, x); }

static int jumps(int n) {
  int x = 0;
  if (n == 3) goto inside;
  while (step(x) < 5) {
    ++x;
  inside:
    // A labelled statement keeps its label in front of the block.
    // CHECK: here: { VPROF_CALL({{[0-9]+}}, {{[0-9]+}}); tell("here", x); }
  here: tell("here", x);
    if (x == 2) goto out;
    if (x < 2) {
      ++x;
      goto here;
    }
    x = step(x);
  }
out:
  do x = step(x); while (step(x) < 8);
  for (;;) {
    if (step(x) > 10) break;
    x = step(x);
    continue;
  }
  return x;
}

#define LOCAL(name) __label__ name
// Labels of a block are declared before anything else in it.
static int local_labels(int n) {
  // CHECK: __label__ again, out; LOCAL(never); VPROF_FUNCTION({{[0-9]+}});
  __label__ again, out; LOCAL(never);
again:
  if (step(n) > 6) goto out;
  {
    __label__ out;
    n = step(n);
    if (n == 2) goto out;
    n = step(n);
  out:
    tell("inner", n);
  }
  if (n < 0) goto never;
  goto again;
never:
out:
  return step(n);
}

static int interpreter(const char *code) {
  static const void *const table[] = {&&add, &&twice, &&stop};
  int x = 1;
#define NEXT() goto *table[(*code++ - 'a') % 3]
  NEXT();
add:
  x = step(x);
  NEXT();
twice:
  x = step(x) + x;
  NEXT();
stop:
  return step(x);
}

static int duff(int count) {
  int x = 0, n = (count + 3) / 4;
  switch (count % 4) {
    // CHECK: case 0: do { x += VPROF_CALL_EXPR({{[0-9]+}}, {{[0-9]+}}) step(x) VPROF_EXPR_END;
    case 0: do { x += step(x);
    case 3:      x += step(x);
    case 2:      x += step(x);
    case 1:      x += step(x);
            } while (--n > 0);
  }
  return x;
}

static int arrays(int n) {
  int lengths[step(n)];
  char *text = alloca((size_t)step(n) + 1);
  for (int i = 0; i < step(n); ++i) lengths[i] = step(i);
  memset(text, 'x', (size_t)step(n));
  text[step(n)] = 0;
  // The value of the user's statement expression is its last statement.
  int x = __extension__({
    tell(text, lengths[n]);
    step(lengths[n]);
  });
  return x + (int)(sizeof lengths / sizeof *lengths);
}

static int shortcuts(int n) {
  int x = (tell("comma", n), step(n));
  x += step(x) > 3 || step(1000);
  x += step(x) < 3 && step(2000);
  x += n ? step(x) : step(3000);
  x += step(n) ?: step(4000);
  switch (step(x)) {
    case 1 ... 5: tell("low", x); break;
    default: tell("high", x);
  }
  return x;
}

int main(void) {
  tell("jumps", jumps(1) + jumps(3));
  tell("local labels", local_labels(0));
  tell("interpreter", interpreter("abac"));
  for (int i = 1; i < 9; ++i) tell("duff", duff(i));
  tell("arrays", arrays(4));
  tell("shortcuts", shortcuts(0) + shortcuts(7));
  return 0;
}
// FLAGS: -std=gnu17 -Wno-implicit-fallthrough -Wno-gnu-label-as-value -Wno-missing-field-initializers
// EXPAND: EVERYTHING
