// That a thread does not take more of a processor than it may. Only lower bounds of time are
// checked, for the work before a rest: a busy machine makes everything take longer, and the kernel
// may look at a thread's processor time seldom.
#include "pipeline/own_use/throttle.h"

#include <sys/resource.h>

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

/// How often the calling thread has given up its processor itself, as it does to rest.
long voluntary_switches() {
  struct rusage use{};
  ::getrusage(RUSAGE_THREAD, &use);
  return use.ru_nvcsw;
}

struct Computation {
  double worked_s;  ///< before its last rest, of processor time
  double took_s;
};

/// Computes until the thread has rested a few times. How soon that is depends on the machine.
Computation compute_until_rested() {
  constexpr int kRests = 3;
  const auto start = std::chrono::steady_clock::now();
  const double before = processor_s();
  long switches = voluntary_switches();
  double worked = 0, worked_earlier = 0, worked_before_rest = 0;
  for (int rests = 0; rests < kRests;) {
    if (const long now = voluntary_switches(); now != switches) {
      switches = now;
      worked_before_rest = worked_earlier;  // `worked` may have been read after it
      ++rests;
    }
    worked_earlier = worked;
    worked = processor_s() - before;
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  return {worked_before_rest, took.count()};
}

}  // namespace

TEST_CASE("a thread with a limit rests for as long as its work demands") {
  const double processors = GENERATE(0.25, 0.5);
  Computation done{};
  std::thread([&] {
    const Throttle throttle(processors);
    done = compute_until_rested();
  }).join();
  CHECK(done.took_s >= done.worked_s / processors);
}

TEST_CASE("the limit of a thread may change while it works") {
  constexpr double kProcessors = 0.25;
  Computation done{};
  std::promise<void> began, changed;
  std::thread thread([&] {
    const Throttle throttle(1);
    began.set_value();
    changed.get_future().wait();
    done = compute_until_rested();
  });
  began.get_future().wait();
  Throttle::limit(kProcessors);
  changed.set_value();
  thread.join();
  CHECK(done.took_s >= done.worked_s / kProcessors);
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
