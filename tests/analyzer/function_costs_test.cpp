// What the calls of a function cost, compared with sums over all intervals.
#include <catch2/catch.hpp>
#include <cmath>

#include "trace_writer.h"
#include "vprof/analyzer/function_costs.h"

using namespace vprof;

namespace {

/// handle() calls f twice at one line and g once in every second request, and waits for a disk.
struct Recording {
  test::ScratchDir dir;
  std::string sites_file;
  double mean_f = 0, variance_f = 0, mean_latency = 0, variance_latency = 0, covariance_f = 0;

  explicit Recording(int count) {
    test::SitesWriter sites;
    const uint32_t handle = sites.function("handle", 2, true, true);
    const uint32_t f = sites.function("f");
    const uint32_t g = sites.function("g");
    const uint32_t whole = sites.function_site(handle);
    const uint32_t first = sites.call_site(handle, f);
    const uint32_t second = sites.call_site(handle, f);
    const uint32_t call_g = sites.call_site(handle, g);
    sites.call_site(handle, g);  // never passed
    test::ProcessWriter process;
    test::ThreadWriter& thread = process.thread(1);
    std::vector<double> latencies;
    std::vector<double> times;
    int64_t now = 1000;
    for (int i = 0; i < count; ++i) {
      const int64_t begin = now;
      thread.begin(static_cast<uint64_t>(i) + 1, now);
      const int64_t in_f = 100 + 10 * (i % 7);
      thread.frame(first, now + 10, now + 10 + in_f);
      thread.frame(second, now + 300, now + 310);
      if (i % 2 == 0) {
        thread.frame(call_g, now + 400, now + 430);
      }
      thread.wait(VPROF_EV_WAIT_FILE, {.address = 5}, now + 500, now + 600);
      now += 700 + (i % 5) + 3 * (i % 7);
      thread.frame(whole, begin + 1, now - 1);
      thread.end(static_cast<uint64_t>(i) + 1, now);
      latencies.push_back(static_cast<double>(now - begin));
      times.push_back(static_cast<double>(in_f));
      now += 50;
    }
    process.write(dir.path());
    sites_file = dir.path("sites.json");
    sites.write(dir.path());
    for (size_t i = 0; i < times.size(); ++i) {
      mean_f += times[i] / count;
      mean_latency += latencies[i] / count;
    }
    for (size_t i = 0; i < times.size(); ++i) {
      variance_f += std::pow(times[i] - mean_f, 2) / count;
      variance_latency += std::pow(latencies[i] - mean_latency, 2) / count;
      covariance_f += (times[i] - mean_f) * (latencies[i] - mean_latency) / count;
    }
  }

  Result<std::vector<analyzer::FunctionCosts>> costs(
      const std::vector<std::string>& keys, const std::string& interval = "",
      std::span<const analyzer::Epoch> slices = {}) const {
    analyzer::Options options;
    options.interval = interval;
    options.window = 100;  // so that the recording is read in portions
    return analyzer::costs_of(dir.path(), sites_file, keys, options, slices);
  }
};

void check_parts_add_up(const analyzer::FunctionCosts& costs) {
  double parts = costs.own.mean_ns;
  double shares = costs.own.share;
  for (const analyzer::CallCost& call : costs.sites) {
    parts += call.cost.mean_ns;
    shares += call.cost.share;
  }
  CHECK(parts == Approx(costs.whole.mean_ns));
  CHECK(shares == Approx(costs.whole.share));
}

}  // namespace

TEST_CASE("costs of a function: each call site, its own time, and its waits") {
  const Recording recording(350);
  const auto all = recording.costs({"handle@src/a.c:10", "f@src/a.c:20"});
  REQUIRE(all);
  REQUIRE(all->size() == 2);
  const analyzer::FunctionCosts& handle = all->at(0);
  CHECK(handle.interval == "request");
  CHECK(handle.intervals == 350);
  CHECK(handle.mean_ns == Approx(recording.mean_latency));
  CHECK(handle.calls == Approx(1));
  REQUIRE(handle.sites.size() == 5);
  const analyzer::CallCost& first = handle.sites[0];
  CHECK(first.callee == "f");
  CHECK(first.line != 0);
  CHECK(first.calls == Approx(1));
  CHECK(first.cost.count == 350);
  CHECK(first.cost.mean_ns == Approx(recording.mean_f));
  CHECK(first.cost.stddev_ns == Approx(std::sqrt(recording.variance_f)));
  CHECK(first.cost.share == Approx(recording.covariance_f / recording.variance_latency));
  CHECK(handle.sites[1].cost.stddev_ns == Approx(0).margin(1e-9));
  CHECK(handle.sites[2].callee == "g");
  CHECK(handle.sites[2].calls == Approx(0.5));
  CHECK(handle.sites[2].cost.mean_ns == Approx(15));
  CHECK(handle.sites[3].calls == 0);  // never passed
  CHECK(handle.sites[3].cost.count == 0);
  const analyzer::CallCost& wait = handle.sites[4];
  CHECK(wait.line == 0);
  CHECK(wait.callee.rfind("wait(", 0) == 0);
  CHECK(wait.cost.mean_ns == Approx(100));
  check_parts_add_up(handle);
  const analyzer::FunctionCosts& f = all->at(1);
  CHECK(f.sites.empty());
  CHECK(f.whole.mean_ns == Approx(recording.mean_f + 10));
}

TEST_CASE("costs of a function: what slices of a recording have adds up") {
  const Recording recording(350);
  constexpr int64_t kCut = 120'000;  // within an interval, which counts before it
  const std::vector<analyzer::Epoch> slices = {{.to = kCut}, {.from = kCut}};
  const auto whole = recording.costs({"handle@src/a.c:10"});
  const auto sum = recording.costs({"handle@src/a.c:10"}, "", slices);
  const auto part = recording.costs({"handle@src/a.c:10"}, "", std::span(slices).first(1));
  REQUIRE((whole && sum && part));
  CHECK(sum->at(0).intervals == 350);
  CHECK(part->at(0).intervals < 200);
  CHECK(part->at(0).intervals > 100);
  CHECK(part->at(0).calls == Approx(1));
  CHECK(sum->at(0).calls == Approx(whole->at(0).calls));
  CHECK(sum->at(0).own.share == Approx(whole->at(0).own.share));
  REQUIRE(sum->at(0).sites.size() == whole->at(0).sites.size());
  for (size_t i = 0; i < whole->at(0).sites.size(); ++i) {
    const analyzer::CallCost& one = sum->at(0).sites[i];
    const analyzer::CallCost& all = whole->at(0).sites[i];
    CHECK(one.calls == Approx(all.calls));
    CHECK(one.cost.count == all.cost.count);
    CHECK(one.cost.mean_ns == Approx(all.cost.mean_ns));
    CHECK(one.cost.share == Approx(all.cost.share));
  }
}

TEST_CASE("costs of a function that is not measured, or of intervals that are not there") {
  const Recording recording(10);
  const auto none = recording.costs({"absent"});
  REQUIRE(none);
  CHECK(none->at(0).whole.count == 0);
  CHECK(none->at(0).sites.empty());
  const auto wrong = recording.costs({"handle@src/a.c:10"}, "nothing");
  REQUIRE_FALSE(wrong);
  CHECK(wrong.error().message.find("nothing") != std::string::npos);
}

TEST_CASE("costs of a function: what it waits for in another thread is the wait's alone") {
  const test::ScratchDir dir;
  test::SitesWriter sites;
  const uint32_t note = sites.function("note", 2, true, true);
  const uint32_t flush = sites.function("flush");
  const uint32_t entry = sites.function_site(note);
  const uint32_t call_lock = sites.call_site(note, sites.library("pthread_mutex_lock"));
  const uint32_t call_flush = sites.call_site(note, flush);
  test::ProcessWriter process;
  test::ThreadWriter& waiter = process.thread(1);
  test::ThreadWriter& holder = process.thread(2);
  for (int i = 0; i < 100; ++i) {
    const int64_t at = i * 1000;
    const int64_t flushes = 50 + i % 10;
    const auto number = static_cast<uint64_t>(i + 1);
    holder.frame(call_flush, at + 5, at + 5 + flushes);
    holder.release(VPROF_EV_RELEASE_MUTEX, {0x10}, at + 6 + flushes, number);
    holder.frame(entry, at, at + 10 + flushes);
    waiter.begin(number, at + 10);
    waiter.wait(VPROF_EV_WAIT_MUTEX, {0x10}, at + 21, at + 8 + flushes, number);
    waiter.frame(call_lock, at + 20, at + 9 + flushes);
    waiter.frame(call_flush, at + 10 + flushes, at + 10 + 2 * flushes);
    waiter.frame(entry, at + 12, at + 15 + 2 * flushes);
    waiter.end(number, at + 16 + 2 * flushes);
  }
  process.write(dir.path());
  const auto all = analyzer::costs_of(dir.path(), sites.write(dir.path()), {"note@src/a.c:10"}, {});
  REQUIRE(all);
  const analyzer::FunctionCosts& costs = all->at(0);
  check_parts_add_up(costs);
  CHECK(costs.calls == Approx(1));
  REQUIRE(costs.sites.size() == 2);
  CHECK(costs.sites[0].callee == "pthread_mutex_lock");
  CHECK(costs.sites[0].cost.mean_ns == Approx(54.5 - 11));
  CHECK(costs.sites[1].callee == "flush");
  CHECK(costs.sites[1].cost.mean_ns == Approx(54.5));
}

TEST_CASE("costs of a function that calls itself: recursion folds, and all calls of it count") {
  const test::ScratchDir dir;
  test::SitesWriter sites;
  const uint32_t walk = sites.function("walk", 2, true, true);
  const uint32_t visit = sites.function("visit");
  const uint32_t entry = sites.function_site(walk);
  const uint32_t call_walk = sites.call_site(walk, walk);
  const uint32_t call_visit = sites.call_site(walk, visit);
  const uint32_t call_from_outside = sites.call_site(sites.function("serve", 3, true, true), walk);
  test::ProcessWriter process;
  test::ThreadWriter& thread = process.thread(1);
  for (int i = 0; i < 50; ++i) {
    const int64_t at = i * 1000;
    const auto id = static_cast<uint64_t>(i + 1);
    thread.begin(id, at);
    thread.frame(call_visit, at + 20, at + 40);
    thread.frame(call_visit, at + 60, at + 80 + i % 7);
    thread.frame(entry, at + 51, at + 91);
    thread.frame(call_walk, at + 50, at + 92);
    thread.frame(call_from_outside, at + 10, at + 100);
    thread.end(id, at + 110 + i % 5);
  }
  process.write(dir.path());
  const auto all = analyzer::costs_of(dir.path(), sites.write(dir.path()), {"walk@src/a.c:10"}, {});
  REQUIRE(all);
  const analyzer::FunctionCosts& costs = all->at(0);
  check_parts_add_up(costs);
  CHECK(costs.whole.mean_ns == Approx(90));
  CHECK(costs.calls == Approx(2));
  REQUIRE(costs.sites.size() == 2);
  CHECK(costs.sites[0].cost.mean_ns == 0);
  CHECK(costs.sites[1].cost.mean_ns == Approx(20 + 20 + 2.94));
}
