// Coroutines that await each other: who begins because of which co_await. The promise has an
// await_transform that takes few types, so the type of an operand must stay what it is.
// FLAGS: -std=c++20
// PLAN: {"intervals": [{"index": 0, "name": "request", "function": "request", "label": [{"function": "add", "value": "arg:0"}]}]}
// LABELS: 20
#include <coroutine>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

std::vector<std::coroutine_handle<>> paused;
struct Paused {
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { paused.push_back(handle); }
  void await_resume() const {}
};

template <class T>
class Task {
 public:
  struct promise_type {
    std::optional<T> value;
    std::exception_ptr thrown;
    std::coroutine_handle<> awaiting = std::noop_coroutine();
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    struct Done {
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
        return done.promise().awaiting;
      }
      void await_resume() noexcept {}
    };
    Done final_suspend() noexcept { return {}; }
    void return_value(T given) { value.emplace(std::move(given)); }
    void unhandled_exception() { thrown = std::current_exception(); }
    template <class U>
    Task<U> await_transform(Task<U> task) {
      return task;
    }
    std::suspend_never await_transform(int) { return {}; }
    Paused await_transform(Paused pause) { return pause; }
  };
  explicit Task(std::coroutine_handle<promise_type> made) : handle_(made) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  ~Task() {
    if (handle_) handle_.destroy();
  }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const {
    handle_.promise().awaiting = awaiting;
    return handle_;
  }
  T await_resume() const {
    if (handle_.promise().thrown) std::rethrow_exception(handle_.promise().thrown);
    return std::move(*handle_.promise().value);
  }
  std::coroutine_handle<promise_type> handle() const { return handle_; }

 private:
  std::coroutine_handle<promise_type> handle_;
};

__attribute__((noinline)) int compute(int n) {
  int s = 1;
  for (int i = 0; i < n; ++i) s += i * s % 7;
  return s;
}

// CHECK: Task<int> add(int a, int b) { VPROF_COROUTINE([[ADD:[0-9]+]], {{[0-9]+}}); VPROF_ENTRY_LABEL_CURRENT(0, (a));
Task<int> add(int a, int b) {
  if (b < 0) throw std::string("negative");
  co_await Paused{};
  co_return a + compute(b);
}

struct Base {
  virtual ~Base() = default;
  virtual Task<std::string> name(int n) = 0;
};
struct Derived : Base {
  // CHECK: Task<std::string> name(int n) override { VPROF_COROUTINE([[NAME:[0-9]+]],
  Task<std::string> name(int n) override {
    // CHECK: const int sum = VPROF_AWAIT({{[0-9]+}}, CALL, [[ADD]]) co_await add(VPROF_{{(CALL_)?}}VALUE({{.*}}) compute(n) VPROF_VALUE_END({{[0-9]+}}), 2) VPROF_AWAIT_END;
    const int sum = co_await add(compute(n), 2);
    co_return std::to_string(sum);
  }
};

// Takes one task and gives back another one: what it was given begins later.
// CHECK: Task<T> passed_on(Task<T> task) { VPROF_COROUTINE(
template <class T>
Task<T> passed_on(Task<T> task) {
  co_return co_await std::move(task);
}

// CHECK: Task<std::string> request(Base& base, std::vector<int> numbers) { VPROF_COROUTINE({{[0-9]+}}, {{[0-9]+}}); VPROF_COROUTINE_INTERVAL(0);
Task<std::string> request(Base& base, std::vector<int> numbers) {
  // CHECK: VPROF_AWAIT({{[0-9]+}}, HAND) co_await 5 VPROF_AWAIT_END;
  co_await 5;
  int sum = 0;
  for (int n : numbers) {
    // CHECK: sum += VPROF_AWAIT_VALUE({{[0-9]+}}, CALL, [[ADD]]) co_await add(20, n) VPROF_AWAIT_VALUE_END;
    sum += co_await add(20, n);
  }
  Task<int> later = add(20, 5);
  // CHECK: sum += VPROF_AWAIT_VALUE({{[0-9]+}}, CALL{{.*}}, [[ADD]]{{.*}}) co_await std::move(later) VPROF_AWAIT_VALUE_END;
  sum += co_await std::move(later);
  // CHECK: sum += VPROF_AWAIT_VALUE({{[0-9]+}}, CALL, {{[0-9]+}}) co_await passed_on({{.*}}add(20, 6){{.*}}) VPROF_AWAIT_VALUE_END;
  sum += co_await passed_on(add(20, 6));
  // CHECK: std::string text = VPROF_AWAIT_VALUE({{[0-9]+}}, CALL, [[NAME]]) co_await base.name(sum % 10) VPROF_AWAIT_VALUE_END + "!";
  std::string text = co_await base.name(sum % 10) + "!";
  try {
    co_await add(20, -1);
  } catch (const std::string& thrown) {
    text += thrown;
  }
  auto twice = [&text](int n) -> Task<int> {
    text += co_await add(20, n) > 20 ? "+" : "-";
    co_return 2 * n;
  };
  // CHECK: VPROF_AWAIT_VALUE({{[0-9]+}}, CALL, {{[0-9]+}}) co_await twice(3) VPROF_AWAIT_VALUE_END
  text += std::to_string(co_await twice(3));
  co_return text;
}

int main() {
  Derived derived;
  Task<std::string> task = request(derived, {1, 2, 3});
  std::coroutine_handle<> handle = task.handle();
  handle.resume();
  while (!handle.done()) {
    std::printf("%zu\n", paused.size());
    const std::coroutine_handle<> next = paused.back();
    paused.pop_back();
    next.resume();
  }
  std::puts(task.await_resume().c_str());
  return 0;
}
