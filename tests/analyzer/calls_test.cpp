// How often sites were passed, and the comparison with a baseline run.
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "trace_writer.h"
#include "vprof/analyzer/interval_times.h"
#include "vprof/analyzer/overhead.h"
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

TEST_CASE("a run is compared with its baseline") {
  analyzer::IntervalSummary run;
  run.count = 100;
  run.mean_ns = 110;
  run.variance_ns2 = 300;
  run.p50_ns = 102;
  run.mean_ci95 = {100, 121};
  analyzer::IntervalSummary baseline;
  analyzer::Overhead overhead;
  compare_with_baseline(run, baseline, overhead);
  CHECK(overhead.baseline_mean_ns == 0);
  CHECK(overhead.mean_ratio == 1.0);

  baseline = run;
  baseline.mean_ns = 100;
  baseline.p50_ns = 100;
  baseline.variance_ns2 = 200;
  compare_with_baseline(run, baseline, overhead);
  CHECK(overhead.baseline_mean_ns == 100);
  CHECK(overhead.mean_ratio == Approx(1.1));
  CHECK(overhead.median_ratio == Approx(1.02));
  CHECK(overhead.variance_ratio == Approx(1.5));
  // Both reach 10 % to either side; together they reach sqrt(2) times as far, in logarithms.
  CHECK(overhead.mean_ratio_ci95[1] == Approx(1.1 * std::pow(1.1, std::sqrt(2.0))));
  CHECK(overhead.mean_ratio_ci95[0] == Approx(1.1 / std::pow(1.1, std::sqrt(2.0))));

  baseline.mean_ci95 = {};
  analyzer::Overhead unsure;
  compare_with_baseline(run, baseline, unsure);
  CHECK(unsure.mean_ratio_ci95[1] == 0);
}

TEST_CASE("the sure part of the overhead ignores single slow intervals") {
  analyzer::Overhead overhead;
  CHECK(sure_overhead(overhead) == 0);
  CHECK(!surely_differs(overhead, 0));
  overhead.baseline_mean_ns = 1;
  overhead.mean_ratio = 1.4;
  overhead.mean_ratio_ci95 = {0.9, 2.2};
  overhead.median_ratio = 1.01;
  CHECK(sure_overhead(overhead) == Approx(0.01));
  CHECK(!surely_differs(overhead, 0.05));
  overhead.mean_ratio_ci95 = {1.2, 1.6};
  CHECK(sure_overhead(overhead) == Approx(0.2));
  CHECK(surely_differs(overhead, 0.05));
  overhead.mean_ratio_ci95 = {0.5, 0.8};
  CHECK(sure_overhead(overhead) == Approx(0.01));
  CHECK(surely_differs(overhead, 0.05));
  overhead.mean_ratio_ci95 = {};
  CHECK(!surely_differs(overhead, 0.05));
  overhead.median_ratio = 0.9;
  CHECK(surely_differs(overhead, 0.05));
}
