// How often sites were passed, and single intervals.
#include <catch2/catch.hpp>
#include <map>

#include "trace_writer.h"
#include "vprof/analyzer/interval_times.h"
#include "vprof/analyzer/timeline.h"

using namespace vprof;

TEST_CASE("only calls are counted, by site, over all threads and processes") {
  const test::ScratchDir scratch;
  for (const uint32_t pid : {100u, 101u}) {
    test::ProcessWriter process(pid);
    for (const uint32_t serial : {1u, 2u}) {
      test::ThreadWriter& thread = process.thread(serial);
      thread.begin(serial, 10);
      for (int64_t i = 0; i < 300; ++i) {
        thread.frame(7, 20 + i, 21 + i);  // more than one chunk
      }
      thread.frame(3, 400, 500);
      thread.end(serial, 600);
    }
    process.write(scratch.path());
  }
  const auto one = analyzer::count_calls(scratch.path(), {});
  REQUIRE(one);
  REQUIRE(one->size() == 8);
  CHECK((*one)[7] == 1200);
  CHECK((*one)[3] == 4);
  CHECK((*one)[1] == 0);
  analyzer::Options options;
  options.threads = 3;
  CHECK(*analyzer::count_calls(scratch.path(), options) == *one);
  CHECK(!analyzer::count_calls(scratch.path("nothing"), {}));
}

TEST_CASE("an interval that begins just before the recording counts") {
  const test::ScratchDir scratch;
  test::ProcessWriter process;
  process.header.start_ticks = process.header.start_monotonic_ns = 1000;
  test::ThreadWriter& thread = process.thread(1);
  thread.begin(1, 990);
  thread.end(1, 2000);
  thread.begin(2, 3000);
  thread.end(2, 4000);
  process.write(scratch.path());
  const std::string sites = test::SitesWriter().write(scratch.path());
  CHECK(analyzer::analyze(scratch.path(), sites, {})->interval.count == 2);
  CHECK(analyzer::timelines_of(scratch.path(), sites, {{990, 1010}, {3000, 1000}}, {})->size() ==
        2);
  analyzer::Options options;
  options.skip_ns = 500;
  CHECK(analyzer::analyze(scratch.path(), sites, options)->interval.count == 1);
}

TEST_CASE("every interval has an id of its own, and its key beside it") {
  const test::ScratchDir scratch;
  test::ProcessWriter process;
  constexpr uint64_t kMadeByRuntime = VPROF_RUNTIME_ID + 5;
  for (uint32_t serial = 1; serial <= 3; ++serial) {  // all begin at the same time
    test::ThreadWriter& thread = process.thread(serial);
    const uint64_t key = serial == 3 ? kMadeByRuntime : 0x7f00 + serial;
    for (const int64_t at : {1000, 2000}) {
      thread.begin(key, at, 0, VPROF_INTERVAL_PROCESS_LOCAL);
      thread.end(key, at + 100 * serial, 0, VPROF_INTERVAL_PROCESS_LOCAL);
    }
  }
  process.write(scratch.path());
  const std::string sites = test::SitesWriter().write(scratch.path());
  std::map<uint64_t, uint64_t> keys;
  const analyzer::IntervalSink sink{[](const auto&) { return Result<void>(); },
                                    [&](const analyzer::IntervalRow& row) {
                                      keys.emplace(row.id, row.key);
                                      return Result<void>();
                                    }};
  REQUIRE(analyzer::interval_times(scratch.path(), sites, {}, sink));
  REQUIRE(keys.size() == 6);
  std::map<uint64_t, int> count;
  for (const auto& [id, key] : keys) {
    ++count[key];
    CHECK(analyzer::timeline_of(scratch.path(), sites, id, {})->id == id);
  }
  CHECK(count == std::map<uint64_t, int>{{0, 2}, {0x7f01, 2}, {0x7f02, 2}});
  const auto slowest = analyzer::timeline_of(scratch.path(), sites, 0x7f02, {});
  REQUIRE(slowest);
  CHECK(slowest->latency_ns == 200);
  CHECK(slowest->others == 1);
}
