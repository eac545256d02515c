/* 832 functions with 2,048 call sites: more than the first-level instruction cache holds, in the
 * form in which the instrumenter writes them. Included by many_sites.c and many_sites.cpp, which
 * are compiled once for each form of a site; MANY_SITES is the prefix of the names.
 *
 *   64 entries -> 8 of 256 inner functions each -> 5 of 512 leaves each
 *
 * So a request passes 48 sites. The digits of a function's number, in another order, say what it
 * calls. Each inner function has a further site that no request reaches. */
#include <stdint.h>
#ifndef MANY_SITES_PLAIN
#include <vprof/runtime/scope.h>
#endif

#define CAT_(x, y) x##y
#define CAT(x, y) CAT_(x, y)
#define NAME(x) CAT(MANY_SITES, x)

#ifdef __cplusplus
#define EXTERNAL extern "C"
#else
#define EXTERNAL
#endif

#ifdef MANY_SITES_PLAIN
#define EXPRESSION(id, call) (call)
#define STATEMENT(id, call) call;
#define FRAME
#define SCOPE(id)
#elif defined(__cplusplus)
#define EXPRESSION(id, call) VPROF_VALUE(0, id) call VPROF_VALUE_END(0)
#define FRAME VPROF_FRAME_N(1);
#elif defined(MANY_SITES_TWIN)
#define EXPRESSION(id, call) VPROF_TWIN_EXPR(id) call VPROF_EXPR_END
#define FRAME
#define SITE(id) VPROF_TWIN_SITE(id)
#define SCOPE(id) VPROF_TWIN_FUNCTION(id);
#else
#define EXPRESSION(id, call) VPROF_EXPR(id) call VPROF_EXPR_END
#define FRAME
#endif
#ifndef SITE
#define SITE(id) VPROF_SITE(id)
#endif
#ifndef SCOPE
#define SCOPE(id) VPROF_FUNCTION(id);
#endif
#ifndef STATEMENT
#define STATEMENT(id, call) \
  {                         \
    SITE(id);               \
    call;                   \
  }
#endif

/* Elsewhere, so that any call may throw. */
EXTERNAL void many_sites_fail(uint64_t x);

#define FUNCTION static __attribute__((noinline)) uint64_t

#define LEAF(a, b, c)                     \
  FUNCTION leaf_##a##b##c(uint64_t x) {   \
    x = x * 6364136223846793005u + 1##c;  \
    if (__builtin_expect(x == 1##a, 0)) { \
      many_sites_fail(x);                 \
    }                                     \
    x ^= x >> 2##b;                       \
    return x + 1##a##b##c;                \
  }

#define INNER(a, b, c)                                         \
  FUNCTION inner_##a##b##c(uint64_t x) {                       \
    FRAME                                                      \
    uint64_t y = EXPRESSION(1##a##b##c##1, leaf_##a##b##c(x)); \
    y += EXPRESSION(1##a##b##c##2, leaf_##b##c##a(y));         \
    if (__builtin_expect(y == 1##a, 0)) {                      \
      STATEMENT(1##a##b##c##3, many_sites_fail(y))             \
    }                                                          \
    STATEMENT(1##a##b##c##4, y ^= leaf_##c##a##b(x))           \
    x += EXPRESSION(1##a##b##c##5, leaf_##a##c##b(y));         \
    STATEMENT(1##a##b##c##6, y += leaf_##b##a##c(x))           \
    return x ^ y;                                              \
  }

#define TO_INNER(a, b, c, k) STATEMENT(2##a##b##c##k, x += inner_##a##b##c(x))
#define ENTRY(a, b)                   \
  FUNCTION entry_##a##b(uint64_t x) { \
    TO_INNER(0, a, b, 1)              \
    TO_INNER(1, a, b, 1)              \
    TO_INNER(2, a, b, 1)              \
    TO_INNER(3, a, b, 1)              \
    TO_INNER(0, b, a, 2)              \
    TO_INNER(1, b, a, 2)              \
    TO_INNER(2, b, a, 2)              \
    TO_INNER(3, b, a, 2)              \
    return x;                         \
  }

#define EACH(F, a) F(a, 0) F(a, 1) F(a, 2) F(a, 3) F(a, 4) F(a, 5) F(a, 6) F(a, 7)
#define LEAVES(a, b) \
  LEAF(a, b, 0)      \
  LEAF(a, b, 1) LEAF(a, b, 2) LEAF(a, b, 3) LEAF(a, b, 4) LEAF(a, b, 5) LEAF(a, b, 6) LEAF(a, b, 7)
#define INNERS(a, b) \
  INNER(a, b, 0)     \
  INNER(a, b, 1)     \
  INNER(a, b, 2) INNER(a, b, 3) INNER(a, b, 4) INNER(a, b, 5) INNER(a, b, 6) INNER(a, b, 7)
#define ENTRY_OF(a, b) entry_##a##b,

/* clang-format off */
EACH(LEAVES, 0) EACH(LEAVES, 1) EACH(LEAVES, 2) EACH(LEAVES, 3)
EACH(LEAVES, 4) EACH(LEAVES, 5) EACH(LEAVES, 6) EACH(LEAVES, 7)
EACH(INNERS, 0) EACH(INNERS, 1) EACH(INNERS, 2) EACH(INNERS, 3)
EACH(ENTRY, 0) EACH(ENTRY, 1) EACH(ENTRY, 2) EACH(ENTRY, 3)
EACH(ENTRY, 4) EACH(ENTRY, 5) EACH(ENTRY, 6) EACH(ENTRY, 7)
static uint64_t (*const entries[64])(uint64_t) = {
  EACH(ENTRY_OF, 0) EACH(ENTRY_OF, 1) EACH(ENTRY_OF, 2) EACH(ENTRY_OF, 3)
  EACH(ENTRY_OF, 4) EACH(ENTRY_OF, 5) EACH(ENTRY_OF, 6) EACH(ENTRY_OF, 7)};
/* clang-format on */

/* Serves requests in an order that no branch predictor learns. */
EXTERNAL uint64_t NAME(_serve)(uint64_t requests);
EXTERNAL uint64_t NAME(_serve)(uint64_t requests) {
  uint64_t random = 88172645463325252u;
  uint64_t x = 1;
  uint64_t i;
  for (i = 0; i < requests; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    x = entries[random % 64](x);
  }
  return x;
}

/* One hot site. */
EXTERNAL uint64_t NAME(_hot)(uint64_t x);
EXTERNAL __attribute__((noinline)) uint64_t NAME(_hot)(uint64_t x) {
  SCOPE(1)
  __asm__ __volatile__("");
  return x * 3 + 1;
}
