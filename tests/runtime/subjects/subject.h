// Instrumented programs in small. Each scenario is one run of the subject; the tests look at its
// output and its trace.
#pragma once

#include <vprof/runtime/scope.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <string>
#include <thread>

#include "../asleep.h"

namespace vprof::test {

using Scenario = int (*)();

struct Registration {
  Registration(const char* name, Scenario scenario);
};

// A fact that the test needs; Outcome::number reads it.
inline void tell(const char* name, uint64_t value) {
  std::printf("%s %llu\n", name, static_cast<unsigned long long>(value));
  std::fflush(stdout);
}

inline bool sanitized() {
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

// Sites used here: leaf 1, middle 2, outer 3. Other sites belong to their scenarios.
void leaf();
void middle(int leaves);
void outer(int leaves);
void leaves(int count);

// Returns once the helper thread sleeps: it has then done everything that it was asked for before.
// Called after this process has made a record. Returns at once if there is no trace.
void until_helper_sleeps();

// Returns once the test closes standard input (Setup::until).
void until_released();

// The time. If the run began in a pause (VPROF_TEST_PAUSED), that ends before.
uint64_t wait_begins();

template <class Condition>
void until(Condition condition) {
  while (!condition()) {
    rest_us(20);
  }
}

// When a wait began and ended, as others saw it. `began` and `over` lie around the wait; while the
// clock went from `asleep` to `woken`, which is at least a millisecond, the thread slept in it.
struct WaitTimes {
  uint64_t began = 0;
  uint64_t asleep = 0;
  uint64_t woken = 0;
  uint64_t over = 0;

  void tell_all() const {
    tell("began", began);
    tell("asleep", asleep);
    tell("woken", woken);
    tell("over", over);
  }
};

// Called by whoever ends the wait of `thread`, immediately before it does.
inline void see_asleep(WaitTimes& times, const std::string& task, const SleepsOn& on = {}) {
  until_asleep(task, on);
  times.asleep = vprof_ticks();
  rest_us(1000);
  times.woken = vprof_ticks();
}

// Another thread runs `hold`, then this one `waiter`. The other one calls `release` once this one
// sleeps.
template <class Hold, class Waiter, class Release>
int wait_for_holder(Hold hold, Waiter waiter, Release release, const SleepsOn& on = {}) {
  leaf();  // makes the trace, which may take a sleep or two
  WaitTimes times;
  std::atomic<bool> held{false}, begins{false};
  const int self = this_thread();
  std::thread thread([&] {
    hold();
    held = true;
    until([&] { return begins.load(); });
    see_asleep(times, task_directory(self), on);
    release();
  });
  until([&] { return held.load(); });
  times.began = wait_begins();
  begins = true;
  waiter();
  times.over = vprof_ticks();
  thread.join();
  times.tell_all();
  return 0;
}

// Runs `waiter` on this thread, and `waker` on another one once this thread sleeps.
template <class Waiter, class Waker>
int wait_for(Waiter waiter, Waker waker, const SleepsOn& on = {}) {
  return wait_for_holder([] {}, waiter, waker, on);
}

}  // namespace vprof::test

#define SUBJECT(name)                                                           \
  static int name();                                                            \
  static const ::vprof::test::Registration registration_of_##name(#name, name); \
  static int name()
