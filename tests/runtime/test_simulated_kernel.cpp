// The clock's rate and the preemption that the kernel reports, with simulated clocks and perf
// events.
#include <catch2/catch.hpp>
#include <cerrno>

#include "simulated/kernel.h"

namespace {

auto& kernel = simulated_kernel;

constexpr uint64_t kMicrosecond = 1000;  // ns
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr uint64_t kSecond = 1000 * kMillisecond;

// As the helper does now and then.
void later(uint64_t ns) {
  kernel.ns += ns;
  simulated_helper_round(false);
}

// Within what reading the clocks costs.
bool close_to(uint64_t ticks, uint64_t ns) {
  const uint64_t wanted = simulated_ticks_at(ns);
  const uint64_t error = simulated_ticks_at(kMicrosecond);
  return ticks + error >= wanted && ticks <= wanted + error;
}

}  // namespace

TEST_CASE("simulated: the rate of the counter is found within a millisecond or so") {
  const uint64_t ticks_per_us = GENERATE(25, 1000, 2596, 4000);
  simulated_boot(ticks_per_us);
  const uint64_t start = kernel.ns;
  const auto rate = static_cast<double>(simulated_calibrate());
  CHECK(rate == Approx(static_cast<double>(ticks_per_us) * 1e6).epsilon(1e-4));
  CHECK(kernel.ns - start >= kMillisecond / 2);
  CHECK(kernel.ns - start <= 2 * kMillisecond);
}

TEST_CASE("simulated: a reading that is disturbed does not make the rate wrong") {
  simulated_boot(3000);
  kernel.ns +=
      10 * kMillisecond;  // so it need not wait, and the next readings are those that count
  // One is for the wait; of five rounds with four readings each the last is undisturbed.
  kernel.disturbed = 1 + 4 * 4;
  CHECK(static_cast<double>(simulated_calibrate()) == Approx(3e9).epsilon(1e-4));
}

TEST_CASE(
    "simulated: a switch away from a thread that could run is preemption, until it runs again") {
  simulated_boot(GENERATE(1000, 3000));
  simulated_watch(1);
  simulated_watch(2);
  simulated_helper_round(false);
  CHECK(kernel.opened == 2);
  const uint64_t start = kernel.ns;
  simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, start + 100 * kMicrosecond);
  simulated_switch_at(1, SIMULATED_IN, start + 350 * kMicrosecond);
  simulated_switch_at(2, SIMULATED_OUT, start + 200 * kMicrosecond);  // it waits
  simulated_switch_at(2, SIMULATED_IN, start + 400 * kMicrosecond);
  later(GENERATE(80, 1000) * kMillisecond);
  REQUIRE(kernel.writes == 1);
  CHECK(kernel.write[0].serial == 1);
  CHECK(close_to(kernel.write[0].start, start + 100 * kMicrosecond));
  CHECK(close_to(kernel.write[0].start + kernel.write[0].duration, start + 350 * kMicrosecond));
}

TEST_CASE("simulated: a preemption may begin in one look and end in a later one") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_helper_round(false);
  const uint64_t start = kernel.ns;
  simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, start);
  later(100 * kMillisecond);
  CHECK(kernel.writes == 0);
  simulated_switch_at(1, SIMULATED_IN, start + 150 * kMillisecond);
  later(100 * kMillisecond);
  REQUIRE(kernel.writes == 1);
  CHECK(kernel.write[0].duration / kMicrosecond == 150 * kMillisecond / kMicrosecond);
}

TEST_CASE("simulated: records that wrap around the end of the ring are read") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_helper_round(false);
  simulated_lose_records(1, 0);  // of another size, so that a later record lies across the end
  uint64_t expected = 0;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 25; ++i) {
      const uint64_t at = kernel.ns + static_cast<uint64_t>(i) * 2 * kMillisecond;
      simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, at);
      simulated_switch_at(1, SIMULATED_IN, at + kMillisecond);
      ++expected;
    }
    later(100 * kMillisecond);
  }
  CHECK(kernel.writes == expected);
  CHECK(kernel.let_go == 0);
}

TEST_CASE("simulated: what found no room is counted") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_helper_round(false);
  SECTION("in the ring: and a preemption across the gap is unknown") {
    simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, kernel.ns);
    simulated_lose_records(1, 5);
    simulated_switch_at(1, SIMULATED_IN, kernel.ns + kMillisecond);
    later(100 * kMillisecond);
    CHECK(kernel.lost == 5);
    CHECK(kernel.writes == 0);
  }
  SECTION("in the trace") {
    kernel.no_room = true;
    simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, kernel.ns);
    simulated_switch_at(1, SIMULATED_IN, kernel.ns + kMillisecond);
    later(100 * kMillisecond);
    CHECK(kernel.lost == 1);
  }
}

TEST_CASE(
    "simulated: a thread that switches more than 10,000 times a second is let go, and counted") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_watch(2);
  simulated_helper_round(false);
  const auto switches = [](uint32_t thread, int count) {
    for (int i = 0; i < count; ++i) {
      simulated_switch_at(thread, SIMULATED_OUT, kernel.ns);
      simulated_switch_at(thread, SIMULATED_IN, kernel.ns);
    }
  };
  // In each fifth of the tenth of a second over which they are counted.
  for (int i = 0; i < 5; ++i) {
    CHECK(kernel.let_go == 0);
    switches(1, 200 + 5);
    switches(2, 200 - 5);
    kernel.ns += 20 * kMillisecond;
    simulated_helper_round(true);
  }
  CHECK(kernel.let_go == 1);
  CHECK(kernel.closed == 1);
  // The other is still watched.
  simulated_switch_at(2, SIMULATED_OUT_PREEMPTED, kernel.ns);
  simulated_switch_at(2, SIMULATED_IN, kernel.ns + kMillisecond);
  later(100 * kMillisecond);
  CHECK(kernel.writes == 1);
}

TEST_CASE("simulated: the fuller the rings are found, the sooner is the next look") {
  simulated_boot(1000);
  simulated_watch(1);
  const auto look = [] {
    const uint64_t now = kernel.ns;
    return simulated_helper_round(false) - now;
  };
  CHECK(look() == 80 * kMillisecond);
  kernel.ns += 80 * kMillisecond;
  for (int i = 0; i < 300; ++i) {  // more than a quarter of the 16 KiB
    simulated_switch_at(1, SIMULATED_IN, kernel.ns);
  }
  CHECK(look() == 40 * kMillisecond);
  kernel.ns += 10 * kMillisecond;
  CHECK(look() < 30 * kMillisecond);  // not its time yet
  kernel.ns += 30 * kMillisecond;
  CHECK(look() == 80 * kMillisecond);
}

TEST_CASE("simulated: what the kernel refuses is counted, and the first reason kept") {
  simulated_boot(1000);
  simulated_watch(1);
  SECTION("the event") {
    kernel.open_error = EACCES;
    simulated_helper_round(false);
    kernel.open_error = EMFILE;
    simulated_watch(2);
    simulated_helper_round(false);
    CHECK(kernel.unwatched == 2);
    CHECK(kernel.refused == EACCES);
  }
  SECTION("its ring") {
    kernel.map_error = EPERM;
    simulated_helper_round(false);
    CHECK(kernel.unwatched == 1);
    CHECK(kernel.refused == EPERM);
    CHECK(kernel.closed == 1);
  }
  SECTION("nothing: the thread has ended") {
    kernel.open_error = ESRCH;
    simulated_helper_round(false);
    CHECK(kernel.unwatched == 0);
    CHECK(kernel.refused == 0);
  }
  SECTION("perhaps anything, once the program has shut itself in") {
    kernel.sandbox = 2;
    simulated_helper_round(false);
    CHECK(kernel.opened == 0);
    CHECK(kernel.unwatched == 1);
    CHECK(kernel.refused == EPERM);
  }
}

TEST_CASE("simulated: a thread that has ended is let go after a second, with all it had") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_helper_round(false);
  simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, kernel.ns);
  simulated_switch_at(1, SIMULATED_IN, kernel.ns + kMillisecond);
  kernel.ended[1] = true;
  later(kSecond);
  CHECK(kernel.writes == 1);
  CHECK(kernel.closed == 1);
  CHECK(kernel.let_go == 0);
  CHECK(simulated_helper_round(false) == UINT64_MAX);  // until somebody asks
}

TEST_CASE("simulated: while nobody drives, no switch costs anything, and later all is seen again") {
  simulated_boot(1000);
  simulated_watch(1);
  simulated_watch(2);
  simulated_helper_round(false);
  simulated_switch_at(1, SIMULATED_OUT_PREEMPTED, kernel.ns);
  simulated_helper_rest();
  CHECK(kernel.opened == 2);
  CHECK(kernel.closed == 2);
  simulated_helper_rest();
  CHECK(kernel.closed == 2);
  SECTION("and the time between is no preemption") {
    later(kSecond);
    CHECK(kernel.opened == 4);
    simulated_switch_at(1, SIMULATED_IN, kernel.ns);
    const uint64_t again = kernel.ns + kMillisecond;
    simulated_switch_at(2, SIMULATED_OUT_PREEMPTED, again);
    simulated_switch_at(2, SIMULATED_IN, again + 5 * kMillisecond);
    later(100 * kMillisecond);
    REQUIRE(kernel.writes == 1);
    CHECK(kernel.write[0].serial == 2);
    CHECK(close_to(kernel.write[0].start, again));
  }
  SECTION("but not of a thread that has ended, whose id may be another's") {
    kernel.ended[1] = true;
    simulated_helper_rest();
    kernel.ended[1] = false;
    later(kSecond);
    CHECK(kernel.opened == 3);
  }
  SECTION("nor of a thread that the kernel refuses then, which is counted") {
    kernel.open_error = EMFILE;
    later(kSecond);
    CHECK(kernel.unwatched == 2);
    kernel.open_error = 0;
    later(kSecond);
    CHECK(kernel.opened == 2);
  }
  SECTION("and the end of the program opens nothing") {
    simulated_helper_round(true);
    CHECK(kernel.opened == 2);
    CHECK(kernel.closed == 2);
  }
}
