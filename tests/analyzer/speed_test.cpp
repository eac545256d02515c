// Hidden: `vprof_analyzer_tests "[speed]"` prints records per second on a synthetic server.
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdio>

#include "helpers.h"
#include "trace_writer.h"

using namespace vprof;

TEST_CASE("speed of the analysis", "[.][speed]") {
  test::ScratchDir dir;
  test::SitesWriter sites;
  const auto root = sites.function("root", 3);
  const uint32_t root_site = sites.function_site(root);
  std::vector<uint32_t> calls;
  for (int i = 0; i < 8; ++i)
    calls.push_back(sites.call_site(root, sites.function("g" + std::to_string(i), 1)));
  test::ProcessWriter process;
  process.slots_per_chunk = 4092;
  constexpr int kThreads = 4;
  constexpr int kIntervals = 40'000;
  for (uint32_t thread = 1; thread <= kThreads; ++thread) {
    auto& t = process.thread(thread);
    int64_t now = 0;
    uint64_t id = uint64_t{thread} << 32;
    for (int i = 0; i < kIntervals; ++i) {
      const int64_t start = now;
      t.begin(++id, now);
      for (int call = 0; call < 24; ++call) {
        const int64_t duration = 100 + (call * 7919 + int64_t{i} * 104729) % 3000;
        t.frame(calls[static_cast<size_t>(call % 8)], now + 10, now + 10 + duration);
        now += duration + 20;
      }
      t.frame(root_site, start + 5, now + 5);
      t.end(id, now + 10);
      now += 100;
    }
  }
  process.write(dir.path());
  const std::string sites_path = sites.write(dir.path());
  const auto start = std::chrono::steady_clock::now();
  const auto profile = analyzer::analyze(dir.path(), sites_path, {});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  REQUIRE(profile);
  std::printf("%.2f M records in %.2f s: %.1f M records/s, %llu intervals\n",
              static_cast<double>(profile->overhead.records) / 1e6, took.count(),
              static_cast<double>(profile->overhead.records) / 1e6 / took.count(),
              static_cast<unsigned long long>(profile->interval.count));
}
