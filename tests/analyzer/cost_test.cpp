// What measuring costs: by records and busy time, for groups of intervals, and beside a baseline.
#include <catch2/catch.hpp>
#include <cmath>

#include "trace_writer.h"
#include "vprof/analyzer/overhead.h"

using namespace vprof;
using analyzer::GroupCost;
using analyzer::Overhead;
using analyzer::Profile;

TEST_CASE("what records add is relative to the time without them") {
  CHECK(analyzer::added_by(20, 120) == Approx(0.2));
  CHECK(analyzer::added_by(0, 120) == 0);
  CHECK(analyzer::added_by(20, 0) == 0);
  // More than there is: the cost of a record is an estimate.
  CHECK(analyzer::added_by(130, 120) == analyzer::kMostCost);
  CHECK(analyzer::added_by(119, 120) == analyzer::kMostCost);
}

TEST_CASE("the cost of a program and of its busiest thread") {
  Overhead overhead;
  CHECK(analyzer::measuring_cost(overhead) == 0);
  CHECK(analyzer::thread_load(overhead) == 0);
  overhead.record_ns = 20;
  const double each = analyzer::record_cost_ns(overhead);
  CHECK(each > 20);
  overhead.records = 1000;
  overhead.processor_ns = 15'000 + 1000 * each;
  overhead.helper_ns = 5000;
  CHECK(analyzer::program_cost(overhead) == Approx((1000 * each + 5000) / 10'000));
  // The thread made all records, in part of the time; the helper is another thread.
  overhead.thread_records = 1000;
  overhead.thread_ns = 2000 + 1000 * each;
  overhead.thread_passed_ns = 2 * overhead.thread_ns;
  CHECK(analyzer::thread_cost(overhead) == Approx(std::min(each / 2, analyzer::kMostCost)));
  CHECK(analyzer::thread_load(overhead) == Approx(0.5));
  CHECK(analyzer::queueing_cost(overhead) == analyzer::thread_cost(overhead));
  CHECK(analyzer::measuring_cost(overhead) == analyzer::thread_cost(overhead));
  // A wait costs more than a frame, which takes one slot instead of three.
  overhead.waits = 100;
  CHECK(analyzer::recording_ns(overhead) ==
        Approx((900 + 100 * static_cast<double>(analyzer::kRecordsPerWait)) * each));
  overhead.processor_ns = 0;
  CHECK(analyzer::program_cost(overhead) == 0);
}

TEST_CASE("system calls of the runtime count, but not for the budget of a plan") {
  Overhead overhead;
  overhead.record_ns = 20;
  overhead.records = 1000;
  overhead.waits = 100;
  overhead.processor_ns = 10e6;
  const double each = analyzer::record_cost_ns(overhead);
  const double before = analyzer::measuring_cost(overhead);
  overhead.calls_ns = 1e6;
  const double calls = analyzer::calls_cost_ns(overhead);
  CHECK(calls > overhead.calls_ns);
  // The questions that come with a wait are among the calls. What is left of it are its slots.
  CHECK(analyzer::records_ns(overhead) == Approx((900 + 100 * 3) * each));
  CHECK(analyzer::recording_ns(overhead) == analyzer::records_ns(overhead) + calls);
  // A timed call reads the clock twice, as a frame does.
  overhead.timed_calls = 500;
  CHECK(analyzer::calls_cost_ns(overhead) == Approx(calls + 500 * each));
  CHECK(analyzer::records_ns(overhead) == Approx((900 + 100 * 3) * each));
  overhead.timed_calls = 0;
  CHECK(analyzer::program_cost(overhead) ==
        Approx(analyzer::added_by(analyzer::recording_ns(overhead), 10e6)));
  CHECK(analyzer::measuring_cost(overhead) < before);
  overhead.thread_records = 1200;
  overhead.thread_ns = 8e6;
  CHECK(analyzer::thread_cost(overhead) ==
        Approx(analyzer::added_by(analyzer::recording_ns(overhead), 8e6)));
  CHECK(analyzer::measuring_cost(overhead) ==
        Approx(analyzer::added_by(analyzer::records_ns(overhead), 8e6)));
}

TEST_CASE("records of a thread that is hardly ever busy delay nobody") {
  Overhead overhead;
  overhead.record_ns = 20;
  const double each = analyzer::record_cost_ns(overhead);
  overhead.records = 1000;
  overhead.processor_ns = 1000 * each * 101;
  overhead.thread_records = 1000;
  overhead.thread_ns = 1000 * each * 11;  // records take a tenth of what the thread does besides
  CHECK(analyzer::program_cost(overhead) == Approx(0.01));
  CHECK(analyzer::queueing_cost(overhead) == Approx(0.1));  // its load is unknown
  overhead.thread_passed_ns = 50 * overhead.thread_ns;
  CHECK(analyzer::queueing_cost(overhead) == Approx(0.1 * 0.02 / 0.98));
  CHECK(analyzer::measuring_cost(overhead) == Approx(0.01));
  overhead.thread_passed_ns = 3 * overhead.thread_ns;
  CHECK(analyzer::queueing_cost(overhead) == Approx(0.05));
  overhead.thread_passed_ns = overhead.thread_ns;
  CHECK(analyzer::measuring_cost(overhead) == Approx(0.1));
}

TEST_CASE("the start of the helper is no reason to thin a plan") {
  Overhead overhead;
  overhead.record_ns = 20;
  overhead.records = 10;
  overhead.helper_ns = 25e6;
  overhead.processor_ns = 50e6;
  CHECK(analyzer::program_cost(overhead) == Approx(1).epsilon(0.01));
  CHECK(analyzer::measuring_cost(overhead) < 0.001);
}

namespace {

/// A server of one thread. 100 GETs of 10 us each with 2 calls, and 4 KEYS of 1 ms with 1,000.
Profile loop_of_keys(const std::string& directory, test::ProcessWriter& process) {
  test::SitesWriter sites;
  const uint32_t handler = sites.function("handle", 2, true, true);
  const uint32_t key = sites.function("match");
  const uint32_t own = sites.function_site(handler);
  const uint32_t call = sites.call_site(handler, key);
  test::ThreadWriter& thread = process.thread(1);
  thread.name = "server";
  int64_t now = 1000;
  for (uint64_t id = 1; id <= 104; ++id) {
    const bool keys = id % 26 == 0;
    const int64_t length = keys ? 1'000'000 : 10'000;
    thread.begin(id, now);
    thread.label(id, now, keys ? "keys" : "get");
    for (int64_t i = 0; i < (keys ? 1000 : 2); ++i) {
      thread.frame(call, now + 100 + 20 * i, now + 110 + 20 * i);
    }
    thread.frame(own, now + 10, now + length - 10);
    if (id == 1) {  // a GET that the machine makes slow
      process.thread(0).preempted(1, now + 3000, now + 9000);
    }
    thread.end(id, now + length);
    thread.frame(call, now + length + 100, now + length + 200);  // for no interval
    now += length + 1000;
  }
  process.write(directory);
  auto profile = analyzer::analyze(directory, sites.write(directory), {});
  REQUIRE(profile);
  return *profile;
}

}  // namespace

TEST_CASE("records are counted by label and for the slow intervals") {
  const test::ScratchDir scratch;
  test::ProcessWriter process;
  const Profile profile = loop_of_keys(scratch.path(), process);
  const std::vector<GroupCost>& groups = profile.overhead.groups;
  REQUIRE(groups.size() == 4);
  REQUIRE(profile.group_calls.size() == 4);
  CHECK(groups[0].count == 104);
  CHECK(groups[0].records ==
        100 * 3 + 4 * 1001 + analyzer::kRecordsPerWait);  // the preemption counts as a wait
  CHECK(groups[0].deviation == Approx(1));
  // The slow ones: at least half a millisecond, as latencies are grouped by powers of two.
  CHECK(groups[1].count == 4);
  CHECK(groups[1].from_ns == 524'288);
  CHECK(groups[1].latency_ns == Approx(4e6));
  CHECK(groups[1].records == 4 * 1001);
  CHECK(groups[1].deviation > 0.9);
  CHECK(groups[2].label == "keys");
  CHECK(groups[2].records == 4 * 1001);
  CHECK(groups[3].label == "get");
  CHECK(groups[3].records == 100 * 3 + analyzer::kRecordsPerWait);
  CHECK(groups[3].latency_ns == Approx(1e6 - 6000));
  CHECK(groups[3].deviation < 0.1);
  CHECK(profile.group_calls[2][2] == 4000);
  CHECK(profile.group_calls[3][2] == 200);
  CHECK(profile.group_calls[3][1] == 100);
  Overhead overhead;
  overhead.record_ns = 20;
  const double each = analyzer::record_cost_ns(overhead);
  CHECK(analyzer::group_cost(groups[2], overhead) == Approx(1001 * each / (1e6 - 1001 * each)));
}

TEST_CASE("the groups survive in the profile file, and add up when profiles are merged") {
  const test::ScratchDir scratch;
  test::ProcessWriter process;
  process.header.start_processor_ns = 1000;
  process.header.processor_ns = 51'000;
  process.header.helper_ns = 3000;
  process.header.ticks_per_second = 1'000'000'000;
  process.header.call_ticks_x256 = 200 * 256;
  process.thread(1).own_calls = 7;
  process.thread(1).timed_calls = 11;
  const Profile profile = loop_of_keys(scratch.path(), process);
  CHECK(profile.overhead.processor_ns == 50'000);
  CHECK(profile.overhead.process_ns == 51'000);
  CHECK(profile.overhead.helper_ns == 3000);
  CHECK(profile.overhead.calls_ns >= 1400);  // of each of its chunks
  CHECK(profile.overhead.timed_calls % 11 == 0);
  CHECK(profile.overhead.timed_calls >= 11);
  const auto again = analyzer::merge({{"a", profile.bytes}}, {});
  REQUIRE(again);
  CHECK(again->bytes == profile.bytes);
  REQUIRE(again->overhead.groups.size() == 4);
  CHECK(again->overhead.groups[1].records == 4 * 1001);
  const auto both = analyzer::merge({{"a", profile.bytes}, {"b", profile.bytes}}, {});
  REQUIRE(both);
  CHECK(both->overhead.groups[2].records == 8 * 1001);
  CHECK(both->overhead.processor_ns == 100'000);
  CHECK(both->overhead.process_ns == 102'000);
  CHECK(both->overhead.calls_ns == 2 * profile.overhead.calls_ns);
  CHECK(both->overhead.timed_calls == 2 * profile.overhead.timed_calls);
}

TEST_CASE("of a ring, only the processor time of the records that it kept counts") {
  const auto processor_ns = [](uint64_t overwritten) {
    const test::ScratchDir scratch;
    test::ProcessWriter process;
    process.header.start_processor_ns = 1000;
    process.header.processor_ns = 51'000;
    process.header.overwritten = overwritten;
    return loop_of_keys(scratch.path(), process).overhead.processor_ns;
  };
  CHECK(processor_ns(0) == 50'000);
  const double once = processor_ns(1000);
  CHECK(once < 50'000);
  const double kept = 1000 * once / (50'000 - once);  // slots
  CHECK(processor_ns(3000) == Approx(50'000 * kept / (kept + 3000)));
}

TEST_CASE("busy time lies between the first and the last chunk of a thread") {
  const test::ScratchDir scratch;
  test::ProcessWriter process;
  process.slots_per_chunk = 251;
  test::ThreadWriter& quiet = process.thread(2);
  quiet.name = "quiet";
  quiet.frame(1, 5, 6);
  quiet.opened = {{1000, 1}};  // never fills a chunk
  test::ThreadWriter& lost = process.thread(3);
  lost.opened = {{9000, 1}, {8000, 2}};  // damaged: its time runs backwards
  for (int i = 0; i < 300; ++i) {
    lost.frame(1, 10 * i, 10 * i + 5);
  }
  // The first chunk is taken after a long start; the last one is not full.
  test::ThreadWriter& server = process.thread(1);
  for (uint64_t i = 0; i < 100; ++i) {
    server.opened.emplace_back(5'000'000 + 10'000 * i, 1 + 20'000 * i);
  }
  const Profile profile = loop_of_keys(scratch.path(), process);
  const Overhead& overhead = profile.overhead;
  CHECK(overhead.thread == "server");
  CHECK(overhead.thread_records % 251 == 0);
  const double chunks = static_cast<double>(overhead.thread_records) / 251;
  CHECK(chunks > 10);
  CHECK(overhead.thread_ns == Approx(10'000 * chunks));
  CHECK(overhead.thread_passed_ns == Approx(20'000 * chunks));
}

TEST_CASE("a run is compared with its baseline") {
  analyzer::IntervalSummary run;
  run.count = 100;
  run.mean_ns = 110;
  run.variance_ns2 = 300;
  run.p50_ns = 102;
  run.mean_ci95 = {100, 121};
  analyzer::IntervalSummary baseline;
  Overhead overhead;
  overhead.processor_ns = 4000;
  overhead.process_ns = 9000;  // the baseline's is that of the whole process, too
  compare_with_baseline(run, baseline, 60, overhead);
  CHECK(overhead.baseline_mean_ns == 0);
  CHECK(overhead.mean_ratio == 1.0);
  CHECK(overhead.processor_ratio == 0);

  baseline = run;
  baseline.mean_ns = 100;
  baseline.p50_ns = 100;
  baseline.variance_ns2 = 200;
  compare_with_baseline(run, baseline, 60, overhead);
  CHECK(overhead.baseline_mean_ns == 100);
  CHECK(overhead.mean_ratio == Approx(1.1));
  CHECK(overhead.median_ratio == Approx(1.02));
  CHECK(overhead.variance_ratio == Approx(1.5));
  CHECK(overhead.processor_ratio == Approx(1.5));
  // Both reach 10 % to either side; together they reach sqrt(2) times as far, in logarithms.
  CHECK(overhead.mean_ratio_ci95[1] == Approx(1.1 * std::pow(1.1, std::sqrt(2.0))));
  CHECK(overhead.mean_ratio_ci95[0] == Approx(1.1 / std::pow(1.1, std::sqrt(2.0))));

  baseline.mean_ci95 = {};
  Overhead unsure;
  compare_with_baseline(run, baseline, 0, unsure);
  CHECK(unsure.mean_ratio_ci95[1] == 0);
  CHECK(unsure.processor_ratio == 0);
}
