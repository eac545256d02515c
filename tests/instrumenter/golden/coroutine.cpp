// A generator, and calls around its suspension points.
// FLAGS: -std=c++20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

struct Generator {
  struct promise_type {
    int value = 0;
    Generator get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(int v) {
      value = v;
      return {};
    }
    void return_void() {}
    void unhandled_exception() { throw; }
  };
  std::coroutine_handle<promise_type> handle;
};

__attribute__((noinline)) int work(int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += i;
  if (n < 0) throw n;
  return s;
}

__attribute__((noinline)) std::string text_of(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + work(i) % 26);
  return text;
}

// CHECK: Generator count(int n) { VPROF_COROUTINE([[COUNT:[0-9]+]], {{[1-9][0-9]*}}); VPROF_FRAME_N({{[0-9]+}});
// CHECK-NEXT: for (int i = 0; i < n; ++i) VPROF_AWAIT([[Y0:[0-9]+]], YIELD) co_yield VPROF_CALL_VALUE({{[0-9]+,[0-9]+, [0-9]+}}) work(i) VPROF_VALUE_END({{[0-9]+}}) VPROF_AWAIT_END;
Generator count(int n) {
  for (int i = 0; i < n; ++i) co_yield work(i);
}

// An awaitable that is ready, one that suspends and is resumed by the caller, and one that resumes
// at once.
struct Given {
  Given(std::string given, bool suspended) : text(std::move(given)), suspends(suspended) {}
  std::string text;
  bool suspends;
  bool await_ready() const { return !suspends; }
  void await_suspend(std::coroutine_handle<>) const {}
  std::string await_resume() const { return text; }
};
struct Resumed {
  int value;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) const { return false; }
  int await_resume() const {
    if (value < 0) throw value;
    return value;
  }
};
struct Reference {
  int* value;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { handle.resume(); }
  int& await_resume() const { return *value; }
};
struct Nothing {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<>) const {}
  void await_resume() const {}
};

struct OnlyMoved {
  explicit OnlyMoved(int n) : value(n) {}
  OnlyMoved(const OnlyMoved&) = delete;
  ~OnlyMoved() { std::printf("~%d\n", value); }
  int value;
};
struct GivenInPlace {
  int n;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) const { return false; }
  OnlyMoved await_resume() const { return OnlyMoved(n); }
};

__attribute__((noinline)) size_t length(const std::string& text) {
  size_t n = 0;
  for (char c : text) n += c != 0;
  return n;
}
__attribute__((noinline)) int taken(OnlyMoved moved) {
  for (int i = 0; i < 3; ++i) moved.value += i;
  return moved.value;
}

// CHECK: Generator steps(std::string text, int* shared) { VPROF_COROUTINE(
Generator steps(std::string text, int* shared) {
  // CHECK: const std::string& kept = VPROF_AWAIT([[A0:[0-9]+]], HAND) co_await Given(text, true) VPROF_AWAIT_END;
  const std::string& kept = co_await Given(text, true);
  // CHECK: size_t n = length(VPROF_AWAIT_VALUE({{[0-9]+}}, HAND) co_await Given(kept + "!", true) VPROF_AWAIT_VALUE_END);
  size_t n = length(co_await Given(kept + "!", true));
  // CHECK: VPROF_AWAIT_VALUE({{[0-9]+}}, HAND) co_await Resumed{
  n += static_cast<size_t>(co_await Resumed{3} + co_await Resumed{4});
  // CHECK: VPROF_AWAIT_VALUE({{[0-9]+}}, HAND) co_await Reference{shared} VPROF_AWAIT_VALUE_END += 5;
  co_await Reference{shared} += 5;
  // CHECK: (VPROF_AWAIT_VOID({{[0-9]+}}, HAND) co_await Nothing{} VPROF_AWAIT_VOID_END, n += 1);
  (co_await Nothing{}, n += 1);
  // CHECK: VPROF_AWAIT({{[0-9]+}}, HAND) co_await Nothing{} VPROF_AWAIT_END;
  co_await Nothing{};
  // CHECK: taken(VPROF_AWAIT({{[0-9]+}}, HAND) co_await GivenInPlace{7} VPROF_AWAIT_END);
  const int sum = taken(co_await GivenInPlace{7});
  try {
    co_await Resumed{-2};
  } catch (int thrown) {
    n += static_cast<size_t>(-thrown);
  }
  co_yield sum;
  while (co_await Resumed{static_cast<int>(n % 3)} != 0) ++n;
  if (const int value = co_await Resumed{9}; value == 9) co_yield static_cast<int>(n);
  co_yield work(-1);
}

// A lambda, with a capture that outlives it.
int through_lambda() {
  int seen = 0;
  auto made = [&seen](int n) -> Generator {
    seen += work(n);
    co_yield seen;
    seen += work(n + 1);
  };
  Generator g = made(4);
  while (!g.handle.done()) g.handle.resume();
  g.handle.destroy();
  return seen;
}

// A template: the types of its awaits are not known.
// CHECK: auto result = VPROF_AWAIT({{[0-9]+}}, HAND) co_await std::move(awaited) VPROF_AWAIT_END;
template <class Awaited>
Generator generic(Awaited awaited, int n) {
  auto result = co_await std::move(awaited);
  (void)result;
  co_yield work(n);
}

// A suspension point inside a macro: the coroutine is left alone.
// CHECK: Generator in_macro(int n) {{{$}}
#define GIVE(x) do { co_yield (x); } while (0)
Generator in_macro(int n) {
  GIVE(n);
}

int main() {
  Generator g = count(5);
  int s = 0;
  for (g.handle.resume(); !g.handle.done(); g.handle.resume()) s += g.handle.promise().value;
  g.handle.destroy();
  std::printf("%d\n", s);

  int shared = 1;
  Generator stepped = steps(text_of(6), &shared);
  try {
    while (!stepped.handle.done()) {
      stepped.handle.resume();
      std::printf("%d %d\n", stepped.handle.promise().value, shared);
    }
  } catch (int thrown) {
    std::printf("thrown %d\n", thrown);
  }
  stepped.handle.destroy();

  // Destroyed where it is suspended, and never begun.
  Generator left = count(3);
  left.handle.resume();
  left.handle.destroy();
  Generator never = count(3);
  never.handle.destroy();

  std::printf("%d\n", through_lambda());
  Generator made = generic(Given("x", true), 6);
  made.handle.resume();
  made.handle.resume();
  std::printf("%d\n", made.handle.promise().value);
  made.handle.destroy();
  Generator other = generic(Resumed{1}, 7);
  other.handle.resume();
  std::printf("%d\n", other.handle.promise().value);
  other.handle.destroy();
  Generator plain = in_macro(8);
  plain.handle.resume();
  std::printf("%d\n", plain.handle.promise().value);
  plain.handle.destroy();
  return 0;
}
