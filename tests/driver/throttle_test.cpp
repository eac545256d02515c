// That a thread does not take more of a processor than it may. Only lower bounds of time are
// checked: a busy machine makes everything take longer.
#include "pipeline/own_use/throttle.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <future>
#include <thread>

#include "pipeline/own_use/low_priority.h"
#include "pipeline/own_use/own_processor_time.h"

using namespace vprof::driver;

namespace {

double processor_s() {
  struct timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

/// How long it takes to compute for so long, s.
double time_to_compute(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  const double until = processor_s() + seconds;
  while (processor_s() < until) {
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The kernel's longest tick, s. A thread may work for that long before it has to rest.
constexpr double kTick = 0.01;

}  // namespace

TEST_CASE("a thread with a limit rests for as long as its work demands") {
  const double processors = GENERATE(0.1, 0.25, 0.5);
  constexpr double kWork = 0.06;
  double took = 0;
  std::thread([&] {
    const Throttle throttle(processors);
    took = time_to_compute(kWork);
  }).join();
  CHECK(took >= (kWork - 2 * kTick) / processors);
}

TEST_CASE("the limit of a thread may change while it works") {
  constexpr double kProcessors = 0.1;
  constexpr double kWork = 0.06;
  double took = 0;
  std::promise<void> began, changed;
  std::thread thread([&] {
    const Throttle throttle(1);
    began.set_value();
    changed.get_future().wait();
    took = time_to_compute(kWork);
  });
  began.get_future().wait();
  Throttle::limit(kProcessors);
  changed.set_value();
  thread.join();
  CHECK(took >= (kWork - 2 * kTick) / kProcessors);
}

TEST_CASE("own work takes what is idle, and otherwise its part of the machine") {
  using enum Rests;
  const double part = 1e-6;
  CHECK(allowed_at_low_priority(part, kWhereItIsMissed, true, 1) >= 1);
  CHECK(allowed_at_low_priority(part, kWhereItIsMissed, true, 0) == processors_in(part));
  const double between = allowed_at_low_priority(part, kWhereItIsMissed, true, 0.25);
  CHECK(between > processors_in(part));
  CHECK(between < 1);
  CHECK(allowed_at_low_priority(part, kWhereNothingIsIdle, true, 0.25) >= 1);
  CHECK(allowed_at_low_priority(part, kWhereNothingIsIdle, false, 0) == processors_in(part));
}

TEST_CASE("work at low priority is that of another thread, and its result comes back") {
  const std::thread::id here = std::this_thread::get_id();
  CHECK(at_low_priority(0.02, [] { return std::this_thread::get_id(); }) != here);
}
