#include "factors/latency_summary.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "helpers.h"
#include "trace_writer.h"

using namespace vprof;

TEST_CASE("quantiles are exact ranks while buckets are narrow") {
  analyzer::Histogram latencies;
  for (uint64_t i = 1000; i >= 1; --i) {
    latencies.add(i);
  }
  CHECK(latencies.quantile(0.5) == 500);
  CHECK(latencies.quantile(0.95) == 950);
  CHECK(latencies.quantile(0.99) == 990);
  CHECK(latencies.quantile(0.999) == 999);
  analyzer::Histogram one;
  CHECK(one.quantile(0.5) == 0);
  one.add(42);
  CHECK(one.quantile(0.999) == 42);
  one.add(1'000'000'007);
  CHECK(one.quantile(0.5) == 42);
  CHECK(one.quantile(1) == 1'000'000'007);
}

TEST_CASE("quantiles of wide ranges are within a thousandth, and histograms add up") {
  std::vector<uint64_t> all;
  analyzer::Histogram even;
  analyzer::Histogram odd;
  uint64_t value = 1;
  for (int i = 0; i < 20'000; ++i) {
    value = value * 6364136223846793005ull + 1442695040888963407ull;
    all.push_back((value >> 33) * ((value >> 20) % 4096));
    (i % 2 == 0 ? even : odd).add(all.back());
  }
  std::sort(all.begin(), all.end());
  even += odd;
  CHECK(even.count() == all.size());
  for (const double p : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(all[static_cast<size_t>(p * 20'000) - 1]);
    CHECK(even.quantile(p) == Approx(exact).epsilon(0.001));
  }
  CHECK(even.max() == static_cast<double>(all.back()));
}

TEST_CASE("the tail holds as many intervals as it says") {
  analyzer::Histogram latencies;
  for (uint64_t i = 1; i <= 1000; ++i) {
    latencies.add(i * 1000);
  }
  const auto tail = latencies.tail(0.99);  // 990 is the 99th percentile: from there on 11
  CHECK(tail.count == 11);
  double held = 0;
  for (uint64_t i = 1; i <= 1000; ++i) {
    const uint32_t bin = analyzer::latency_bin(i * 1000);
    if (bin >= tail.first_whole) {
      held += 1;
    }
    if (bin + 1 == tail.first_whole) {
      held += tail.partial;
    }
  }
  CHECK(held == Approx(11));
}

TEST_CASE("latency, labels, and what is between them") {
  test::ScratchDir dir;
  test::SitesWriter sites;
  test::ProcessWriter process;
  auto& t = process.thread(1);
  const std::vector<std::pair<std::string, int64_t>> runs = {
      {"Payment", 10}, {"NewOrder_with_a_long_name", 30}, {"Payment", 14}, {"Payment", 12}};
  int64_t now = 0;
  for (const auto& [label, latency] : runs) {
    t.begin(1, now);
    t.label(1, now + 1, label);
    t.end(1, now + latency);
    now += 100;
  }
  process.write(dir.path());
  const auto profile = analyzer::analyze(dir.path(), sites.write(dir.path()), {});
  REQUIRE(profile);
  const analyzer::IntervalSummary* summary = &profile->interval;
  CHECK(summary->count == 4);
  CHECK(summary->mean_ns == Approx(16.5));
  CHECK(summary->variance_ns2 == Approx((42.25 + 182.25 + 6.25 + 20.25) / 4));
  CHECK(summary->max_ns == 30);
  REQUIRE(summary->labels.size() == 2);
  CHECK(summary->labels[0].label == "Payment");
  CHECK(summary->labels[0].count == 3);
  CHECK(summary->labels[0].mean_ns == Approx(12));
  CHECK(summary->labels[1].label == "NewOrder_with_a_long_name");
  const double between = (3 * 4.5 * 4.5 + 13.5 * 13.5) / 4;
  CHECK(summary->between_labels == Approx(between / summary->variance_ns2));
}
