// Rule 3: C++ expressions, through the comma operator: value categories, temporaries and elision
// stay as they were.
// FLAGS: -std=c++17
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct Loud {
  explicit Loud(int n) : n(n) { std::printf("+%d ", n); }
  Loud(const Loud&) = delete;
  ~Loud() { std::printf("-%d ", n); }
  int n;
};

__attribute__((noinline)) Loud make(int n) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  return Loud(n);
}
__attribute__((noinline)) int& cell() {
  static int value = 0;
  for (volatile int i = 0; i < 1; ++i) {
  }
  return value;
}
__attribute__((noinline)) int number(const Loud& a) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  return a.n;
}
__attribute__((noinline)) int added(int a, int b) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  return a + b;
}
__attribute__((noinline)) std::string_view view(const std::string& s) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  return s;
}
__attribute__((noinline)) std::string&& forward_it(std::string& s) {
  for (volatile int i = 0; i < 1; ++i) {
  }
  return std::move(s);
}
__attribute__((noinline)) void nothing() {
  for (volatile int i = 0; i < 1; ++i) {
  }
}
__attribute__((noinline)) bool empty(std::string_view s) {
  for (char c : s)
    if (c) return false;
  return true;
}

// Calls that may run at the same time have slots of their own: also one in a statement expression,
// whose statements follow each other.
// CHECK: int within(const Loud& a) { VPROF_FUNCTION_N({{[0-9]+}}, 3);
int within(const Loud& a) {
  // CHECK: return VPROF_VALUE(0,{{[0-9]+}}) added(({ int n = VPROF_VALUE(1,{{[0-9]+}}) number(a) VPROF_VALUE_END(1); n; }), VPROF_VALUE(2,
  return added(({ int n = number(a); n; }), number(a));
}

// CHECK: int run() { VPROF_FUNCTION_N({{[0-9]+}}, 2);
int run() {
  // CHECK: const Loud a = VPROF_CALL_GUARD({{[0-9]+}}, {{[0-9]+}}) make(1) VPROF_GUARD_END;
  const Loud a = make(1);
  // CHECK: VPROF_VALUE({{[0-9]+}},{{[0-9]+}}) cell() VPROF_VALUE_END({{[0-9]+}}) = 5;
  cell() = 5;
  // CHECK: int& r = VPROF_VALUE({{[0-9]+}},{{[0-9]+}}) cell() VPROF_VALUE_END({{[0-9]+}});
  int& r = cell();
  r += 1;
  // The temporary lives to the end of the full expression.
  // CHECK: int x = VPROF_VALUE({{[0-9]+}},{{[0-9]+}}) number(make(2)) VPROF_VALUE_END({{[0-9]+}});
  int x = number(make(2));
  // CHECK: const int& kept = VPROF_VALUE(0,{{[0-9]+}}) number(a) VPROF_VALUE_END(0);
  const int& kept = number(a);
  if (!empty(view(std::string(100, 'x')))) x += 10;
  std::string s = "a string long enough to own memory of its own";
  std::string t = forward_it(s);
  // CHECK: x > 0 ? VPROF_VOID({{[0-9]+}},{{[0-9]+}}) nothing() VPROF_VOID_END({{[0-9]+}},{{[0-9]+}}) : VPROF_VOID({{[0-9]+}},{{[0-9]+}}) nothing() VPROF_VOID_END({{[0-9]+}},{{[0-9]+}});
  x > 0 ? nothing() : nothing();
  // CHECK: while (VPROF_VALUE({{[0-9]+}},{{[0-9]+}}) number(a) VPROF_VALUE_END({{[0-9]+}}) + x < 20) ++x;
  while (number(a) + x < 20) ++x;
  std::printf("%d %d %d %zu %zu\n", x, r, kept, s.size(), t.size());
  // Not evaluated, or evaluated by the compiler.
  // CHECK: static_assert(sizeof(number(a)) == sizeof(int));
  static_assert(sizeof(number(a)) == sizeof(int));
  return cell() + within(a);
}

int main() {
  const int x = run();
  std::printf("%d\n", x);
  return 0;
}
// EXPAND: run within
