#include "trace/clock.h"

#include <catch2/catch.hpp>
#include <random>

using vprof::analyzer::Clock;

TEST_CASE("clock: before the first snapshot the estimated rate applies") {
  const Clock clock(1000, 500, 2'000'000'000);
  CHECK(clock.to_ns(1000) == 500);
  CHECK(clock.to_ns(3000) == 1500);
  CHECK(clock.to_ns(0) == 0);
}

TEST_CASE(
    "clock: exact at snapshots, linear between them, and the last rate applies after the last "
    "one") {
  Clock clock(0, 0, 1'000'000'000);
  CHECK(clock.add_snapshot(1000, 1100));
  CHECK(clock.add_snapshot(2000, 2000));
  CHECK(clock.to_ns(500) == 549);  // 550, less because the rate is rounded down
  CHECK(clock.to_ns(1000) == 1100);
  CHECK(clock.to_ns(2000) == 2000);
  CHECK(clock.to_ns(3000) == Approx(2900).margin(1));
}

TEST_CASE("clock: damaged snapshots are ignored") {
  Clock clock(1000, 1000, 1'000'000'000);
  CHECK_FALSE(clock.add_snapshot(500, 2000));
  CHECK_FALSE(clock.add_snapshot(2000, 500));
  CHECK_FALSE(clock.add_snapshot(2000, 1'000'000'000));
  CHECK_FALSE(clock.add_snapshot(UINT64_MAX, 2000));
  CHECK(clock.to_ns(2000) == 2000);
}

TEST_CASE("clock: never goes backwards, whatever the words") {
  std::mt19937_64 random(7);
  Clock clock(random() % 1000, random() % 1000, 3'000'000'001);
  uint64_t ticks = 1000;
  uint64_t ns = 1000;
  for (int i = 0; i < 100; ++i) {
    ticks += 1 + random() % 3'000'000;
    ns += 1 + random() % 1'000'000;
    clock.add_snapshot(ticks, ns);
  }
  std::vector<uint64_t> asked;
  for (int i = 0; i < 10000; ++i) {
    asked.push_back(random() % (2 * ticks));
  }
  asked.insert(asked.end(), {0, 1, UINT64_MAX, UINT64_MAX - 1, 1ull << 63});
  std::sort(asked.begin(), asked.end());
  int64_t previous = INT64_MIN;
  for (const uint64_t t : asked) {
    const int64_t converted = clock.to_ns(t);
    CHECK(converted >= previous);
    previous = converted;
  }
}

TEST_CASE("clock: without snapshots, conversion stays exact for a day") {
  std::mt19937_64 random(11);
  for (const uint64_t hz : {24'000'000ull, 1'000'000'000ull, 2'300'000'000ull, 3'000'000'001ull}) {
    const Clock clock(1000, 5000, hz);
    const auto rate = static_cast<unsigned __int128>(1'000'000'000ull << 32) / hz;
    const auto exact = [&](uint64_t ticks) {
      return static_cast<int64_t>(5000 + static_cast<int64_t>((ticks - 1000) * rate >> 32));
    };
    const uint64_t day = hz * 86400;
    uint64_t last = 1000;
    for (int i = 0; i < 10000; ++i) {
      // Two of three are neighbours of the last one, as in a recording.
      const uint64_t ticks = i % 3 != 0 ? last + random() % 1000 : 1000 + random() % day;
      REQUIRE(clock.to_ns(ticks) == exact(ticks));
      last = ticks;
    }
  }
}
