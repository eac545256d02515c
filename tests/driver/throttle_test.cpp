// That a thread does not take more of a processor than it may. Only lower bounds of time are
// checked: a busy machine makes everything take longer.
#include "pipeline/own_use/throttle.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <thread>

#include "pipeline/own_use/low_priority.h"

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

TEST_CASE("work at low priority is that of another thread, and its result comes back") {
  const std::thread::id here = std::this_thread::get_id();
  CHECK(at_low_priority(0.02, [] { return std::this_thread::get_id(); }) != here);
}
