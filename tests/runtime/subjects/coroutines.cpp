// What rewritten coroutines say, on one thread and on several. Coroutine function n is timed by
// site n. Every step is done by hand, so nothing depends on who runs first.
#define CALL 1  // as a program may have it: the macros must not care
#include <vprof/runtime/scope.h>

#define VPROF_ENABLED
#include <vprof/annotations.h>

#include <algorithm>
#include <coroutine>
#include <thread>
#include <utility>
#include <vector>

#include "subject.h"

using namespace vprof::test;

namespace {

/// A lazy task. Whoever awaits it goes on, by symmetric transfer, when it is done.
struct Task {
  struct promise_type {
    std::coroutine_handle<> continuation = std::noop_coroutine();
    Task get_return_object() {
      return Task(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() { return {}; }
    auto final_suspend() noexcept {
      struct Final {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> done) noexcept {
          return done.promise().continuation;
        }
        void await_resume() noexcept {}
      };
      return Final{};
    }
    void return_void() {}
    void unhandled_exception() {}
  };
  explicit Task(std::coroutine_handle<promise_type> made) : handle(made) {}
  Task(Task&& other) noexcept : handle(std::exchange(other.handle, nullptr)) {}
  Task(const Task&) = delete;
  Task& operator=(const Task&) = delete;
  ~Task() {
    if (handle) {
      handle.destroy();
    }
  }
  bool await_ready() const { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) const {
    handle.promise().continuation = awaiting;
    return handle;
  }
  void await_resume() const {}
  std::coroutine_handle<promise_type> handle;
};

/// Suspends until somebody resumes `waiting`.
struct Event {
  std::coroutine_handle<> waiting;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) { waiting = handle; }
  void await_resume() const {}
};

void on_another_thread(std::coroutine_handle<> handle) {
  std::thread([handle] { handle.resume(); }).join();
}

Task inner(Event& event) {
  VPROF_COROUTINE(2, 2);
  leaf();
  VPROF_AWAIT(20, HAND) co_await event VPROF_AWAIT_END;
  leaf();
}

Task outer(Event& event) {
  VPROF_COROUTINE(3, 3);
  VPROF_AWAIT(30, CALL, 2) co_await inner(event) VPROF_AWAIT_END;
  leaf();
}

Task request(Event& event) {
  VPROF_COROUTINE(4, 4);
  VPROF_COROUTINE_INTERVAL(7);
  VPROF_AWAIT(40, CALL, 3) co_await outer(event) VPROF_AWAIT_END;
}

Task begun_elsewhere() {
  VPROF_COROUTINE(5, 5);
  leaf();
  co_return;
}

/// Awaits an event while another coroutine, which it knows nothing of, begins on the thread.
Task waits_for(Event& event) {
  VPROF_COROUTINE(6, 6);
  vprof_begin(100);
  VPROF_AWAIT(60, HAND, 2) co_await event VPROF_AWAIT_END;
  vprof_end(100);
}

}  // namespace

// A chain of three, suspended on one thread and resumed on another one.
SUBJECT(coroutine_chain) {
  Event event;
  Task task = request(event);
  task.handle.resume();
  on_another_thread(event.waiting);
  return 0;
}

// Another coroutine that begins while one is suspended has nothing to do with its interval, and
// neither has the thread.
SUBJECT(coroutine_stranger) {
  Event event;
  Task task = waits_for(event);
  task.handle.resume();
  Task stranger = begun_elsewhere();
  stranger.handle.resume();
  vprof_work(0, 1);  // for nothing
  event.waiting.resume();
  return 0;
}

// Destroyed where it is suspended: by a thread that works for another interval, and goes on to.
SUBJECT(coroutine_destroyed) {
  Event event;
  {
    Task task = request(event);
    task.handle.resume();
    vprof_begin(50);
  }
  vprof_work(0, 3);
  vprof_end(50);
  return 0;
}

// Two handed to one operation, which begins them while it is called; a third one of the same
// function is a stranger.
namespace {
struct Both {
  Both(Task one, Task other, Task& third)
      : first(std::move(one)), second(std::move(other)), stranger(third) {}
  Task first, second;
  Task& stranger;
  bool await_ready() const { return false; }
  bool await_suspend(std::coroutine_handle<>) const {
    first.handle.resume();
    second.handle.resume();
    stranger.handle.resume();
    return false;
  }
  void await_resume() const {}
};
Task hands(Task& stranger) {
  VPROF_COROUTINE(8, 8);
  vprof_begin(200);
  VPROF_AWAIT(80, HAND, 5, 5)
  co_await Both(begun_elsewhere(), begun_elsewhere(), stranger) VPROF_AWAIT_END;
  vprof_end(200);
}
}  // namespace
SUBJECT(coroutine_hands) {
  Task stranger = begun_elsewhere();
  Task task = hands(stranger);
  task.handle.resume();
  return 0;
}

// Many coroutines that hop between two threads at random, each with its interval.
namespace {
struct Hop {
  std::coroutine_handle<>& at;
  bool await_ready() const { return false; }
  void await_suspend(std::coroutine_handle<> handle) const { at = handle; }
  void await_resume() const {}
};
Task hops(std::coroutine_handle<>& at, unsigned id, int count) {
  VPROF_COROUTINE(9, 9);
  vprof_begin(id);
  for (int i = 0; i < count; ++i) {
    VPROF_AWAIT(90, HAND) co_await Hop{at} VPROF_AWAIT_END;
    vprof_work(0, id);
  }
  vprof_end(id);
}
}  // namespace
SUBJECT(coroutine_hops) {
  constexpr unsigned kMany = 16;
  constexpr int kHops = 200;
  std::coroutine_handle<> at[kMany];
  std::vector<Task> tasks;
  for (unsigned i = 0; i < kMany; ++i) {
    tasks.push_back(hops(at[i], i + 1, kHops));
    at[i] = tasks.back().handle;
  }
  // Both threads take turns: each turn resumes those that its random numbers choose.
  std::vector<int> left(kMany, kHops + 1);
  unsigned random = 12345;
  const auto turn = [&] {
    for (int i = 0; i < 40; ++i) {
      random = random * 1664525u + 1013904223u;
      const unsigned one = (random >> 16) % kMany;
      if (left[one] > 0) {
        --left[one];
        std::exchange(at[one], nullptr).resume();
      }
    }
  };
  const auto all_done = [&] {
    return std::all_of(left.begin(), left.end(), [](int n) { return n == 0; });
  };
  while (!all_done()) {
    turn();
    std::thread(turn).join();
  }
  return 0;
}
