// Which time without a processor is recorded as preemption: exact, with simulated clocks.
#if defined(__linux__) && __has_include(<sys/rseq.h>)
#include <algorithm>
#include <catch2/catch.hpp>

#include "simulated/thread.h"

namespace {

constexpr uint64_t kMicrosecond = 1000;  // ns
constexpr uint64_t kMillisecond = 1000 * kMicrosecond;
constexpr uint64_t kSecond = 1000 * kMillisecond;

// At 1,000 ticks per microsecond: ticks are nanoseconds.
void start(simulated_setting setting = SIMULATED_USUAL) { simulated_start(1000, setting); }

}  // namespace

TEST_CASE("simulated: a thread that could have run was preempted") {
  const uint64_t ticks_per_us = GENERATE(1000, 3000);
  simulated_start(ticks_per_us, SIMULATED_USUAL);
  simulated_compute(10 * kMicrosecond);
  const uint64_t frame = simulated_frame(0);
  simulated.last_end = frame;
  simulated_compute(20 * kMicrosecond);
  simulated_lose_processor(500 * kMicrosecond);
  simulated_compute(30 * kMicrosecond);
  const uint64_t now = simulated_frame(frame);
  CHECK(now == simulated_ticks());
  REQUIRE(simulated.events == 1);
  // When it was lost is unknown: it is recorded as the time immediately before the discovery.
  CHECK(simulated.event[0].duration == 500 * ticks_per_us);
  CHECK(simulated.event[0].start + simulated.event[0].duration == now);
  // It is reported once.
  simulated_compute(10 * kMicrosecond);
  simulated_frame(frame);
  CHECK(simulated.events == 1);
}

TEST_CASE("simulated: several times without a processor between two frames are one event") {
  start();
  simulated_lose_processor(100 * kMicrosecond);
  simulated_compute(5 * kMicrosecond);
  simulated_lose_processor(200 * kMicrosecond);
  simulated_frame(0);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == 300 * kMicrosecond);
}

TEST_CASE(
    "simulated: a preemption does not begin before the frame, or before the last event ended") {
  start();
  simulated_compute(kMillisecond);
  const uint64_t frame = simulated_ticks();
  // More seems to be lost than has passed since the frame began, as if the clocks had drifted
  // apart.
  simulated.ns += 50 * kMicrosecond;
  simulated_lose_processor(100 * kMicrosecond);
  const uint64_t last_end = GENERATE_COPY(frame - 5 * kMicrosecond, frame + 60 * kMicrosecond);
  simulated.last_end = last_end;
  const uint64_t since = frame + 20 * kMicrosecond;
  const uint64_t now = simulated_frame(since);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].start == std::max(since, last_end));
  CHECK(simulated.event[0].start + simulated.event[0].duration == now);
}

TEST_CASE("simulated: what may be the difference of the two clocks is not preemption") {
  start();
  simulated_lose_processor(1999);
  simulated_frame(0);
  CHECK(simulated.events == 0);
  simulated_lose_processor(2000);
  simulated_frame(0);
  CHECK(simulated.events == 1);
  // In a second they may differ by 122 us.
  simulated_compute(kSecond);
  simulated_lose_processor(120 * kMicrosecond);
  simulated_frame(0);
  CHECK(simulated.events == 1);
  simulated_compute(kSecond);
  simulated_lose_processor(130 * kMicrosecond);
  simulated_frame(0);
  CHECK(simulated.events == 2);
}

TEST_CASE("simulated: each new chunk lets the clocks begin anew") {
  start();
  simulated_compute(kSecond);
  simulated_next_chunk();
  simulated_lose_processor(10 * kMicrosecond);
  simulated_frame(0);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == 10 * kMicrosecond);
}

TEST_CASE("simulated: a wait that is not recorded is not preemption") {
  start();
  simulated_sleep_unrecorded(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 0);
  // A wait and a preemption between the same two frames cannot be told apart.
  simulated_sleep_unrecorded(kMillisecond);
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 0);
  // The next loss is pure preemption.
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == kMillisecond);
}

TEST_CASE("simulated: recorded waits are not preemption, nor is what they take of the processor") {
  constexpr uint64_t kTakes = 3 * kMicrosecond;
  const bool several = GENERATE(false, true);
  start();
  for (int i = 0; i < 16; ++i) {  // it learns what a wait takes
    simulated_compute(10 * kMicrosecond);
    simulated_wait(kMillisecond, kTakes, several);
  }
  simulated_frame(0);
  CHECK(simulated.events == 0);
  // Exact even among waits that did not ask.
  for (int i = 0; i < 3; ++i) {
    simulated_wait(kMillisecond, kTakes, several);
  }
  simulated_compute(10 * kMicrosecond);
  simulated_lose_processor(200 * kMicrosecond);
  simulated_compute(10 * kMicrosecond);
  simulated_frame(0);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == 200 * kMicrosecond);
}

TEST_CASE("simulated: lost in a call that cannot wait: the kernel need not be asked why") {
  start();
  const unsigned asked = simulated.asked;
  const bool cannot_wait = GENERATE(true, false);
  for (uint64_t i = 1; i <= 5; ++i) {
    simulated_call(5 * kMicrosecond, i * 10 * kMicrosecond, cannot_wait);
    REQUIRE(simulated.events == i);
    CHECK(simulated.event[i - 1].duration == i * 10 * kMicrosecond);
  }
  CHECK(simulated.asked - asked == (cannot_wait ? 0 : 5));
  // Nothing is lost in a signal.
  simulated_signal();
  simulated_call(5 * kMicrosecond, 0, cannot_wait);
  CHECK(simulated.events == 5);
}

TEST_CASE("simulated: what was lost in such calls does not make a later wait a preemption") {
  start();
  simulated_call(5 * kMicrosecond, 20 * kMicrosecond, true);
  simulated_call(5 * kMicrosecond, 20 * kMicrosecond, true);
  REQUIRE(simulated.events == 2);
  // Not even if a recorded wait has not given the processor up, so that the numbers would fit.
  ++simulated.ns;
  simulated_clear_mark();
  simulated_wait(kMillisecond, 0, false);
  --simulated.gave_up;
  simulated_sleep_unrecorded(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 2);
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 3);
}

TEST_CASE("simulated: a preemption before a wait is found before it") {
  start();
  simulated_compute(10 * kMicrosecond);
  simulated_lose_processor(100 * kMicrosecond);
  simulated_wait(kMillisecond, 0, false);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == 100 * kMicrosecond);
}

TEST_CASE("simulated: a signal is not preemption, and many are not a reason to give up") {
  start();
  for (int i = 0; i < 1000; ++i) {
    simulated_signal();
    simulated_compute(kMillisecond);
    simulated_frame(0);
  }
  CHECK(simulated.events == 0);
  CHECK(simulated.requests == 0);
}

TEST_CASE("simulated: a thread whose mark somebody else clears is left to the helper") {
  start();
  for (int i = 0; i < 63; ++i) {
    simulated_clear_mark();
    simulated_compute(100 * kMicrosecond);
    simulated_frame(0);
  }
  SECTION("64 times in a row within 10 ms") {
    simulated_clear_mark();
    simulated_frame(0);
    CHECK(simulated.requests == 1);
    simulated_lose_processor(kMillisecond);  // the helper's business
    simulated_frame(0);
    CHECK(simulated.events == 0);
    CHECK(simulated.requests == 1);
  }
  SECTION("but not if one of them was preemption") {
    simulated_lose_processor(kMillisecond);
    simulated_frame(0);
    simulated_clear_mark();
    simulated_frame(0);
    CHECK(simulated.events == 1);
    CHECK(simulated.requests == 0);
  }
  SECTION("and not over a longer time") {
    simulated_compute(10 * kMillisecond);
    simulated_clear_mark();
    simulated_frame(0);
    CHECK(simulated.requests == 0);
  }
}

TEST_CASE(
    "simulated: in a child of fork the processor clock starts anew, which is not preemption") {
  start();
  simulated_compute(kSecond);
  simulated_fork();
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 0);
  simulated_compute(kMicrosecond);
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  REQUIRE(simulated.events == 1);
  CHECK(simulated.event[0].duration == kMillisecond);
}

TEST_CASE("simulated: where a thread has no mark, the helper is asked at once, if at all") {
  start(SIMULATED_NO_AREA);
  CHECK(simulated.requests == 1);
  start(SIMULATED_CLASS_OFF);
  CHECK(simulated.requests == 0);
  simulated_lose_processor(kMillisecond);
  simulated_frame(0);
  CHECK(simulated.events == 0);
}
#endif
