// Coroutines are refused with a reason, never broken.
// FLAGS: -std=c++20
#include <coroutine>
#include <cstdio>

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
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> handle;
};

__attribute__((noinline)) int work(int n) {
  int s = 0;
  for (int i = 0; i < n; ++i) s += i;
  return s;
}

// CHECK: Generator count(int n) {
// CHECK-NEXT: for (int i = 0; i < n; ++i) co_yield work(i);
Generator count(int n) {
  for (int i = 0; i < n; ++i) co_yield work(i);
}

int main() {
  Generator g = count(5);
  int s = 0;
  for (g.handle.resume(); !g.handle.done(); g.handle.resume()) s += g.handle.promise().value;
  g.handle.destroy();
  std::printf("%d\n", s);
  return 0;
}
