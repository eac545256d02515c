#include "factors/latency_summary.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>

#include "helpers.h"
#include "trace_writer.h"

using namespace vprof;

namespace {

/// The percentiles of a summary, by p.
std::map<double, double> reported(const analyzer::IntervalSummary& summary) {
  return {{0.5, summary.p50_ns},
          {0.95, summary.p95_ns},
          {0.99, summary.p99_ns},
          {0.999, summary.p999_ns}};
}

analyzer::IntervalSummary summary_of(const std::vector<uint64_t>& latencies) {
  analyzer::IntervalSums sums;
  for (const uint64_t latency : latencies) {
    sums.latencies.add(latency);
    sums.labels[""].add(latency);
  }
  return analyzer::summarize(sums);
}

/// The definition: the smallest latency such that at least the fraction p is not above it.
uint64_t exact_quantile(std::vector<uint64_t> latencies, double p) {
  std::sort(latencies.begin(), latencies.end());
  const double rank = std::ceil(p * static_cast<double>(latencies.size()) - 1e-9);
  return latencies[static_cast<size_t>(rank) - 1];
}

/// 999 latencies at one end of a bucket and one at the other, which is as far as interpolation can
/// be from the truth. `shift`: the bucket is 2^shift ns wide.
std::vector<uint64_t> lopsided_bucket(unsigned shift, uint64_t bucket, bool most_at_top) {
  const uint64_t least = bucket << shift;
  const uint64_t greatest = ((bucket + 1) << shift) - 1;
  std::vector<uint64_t> latencies(999, most_at_top ? greatest : least);
  latencies.push_back(most_at_top ? least : greatest);
  return latencies;
}

}  // namespace

TEST_CASE("quantiles: exact by nearest rank in narrow buckets") {
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

TEST_CASE("quantiles: of a wide range they are within 1/1024, and histograms add up") {
  std::vector<uint64_t> all;
  analyzer::Histogram even;
  analyzer::Histogram odd;
  uint64_t value = 1;
  for (int i = 0; i < 20'000; ++i) {
    value = value * 6364136223846793005ull + 1442695040888963407ull;
    all.push_back((value >> 33) * ((value >> 20) % 4096));
    (i % 2 == 0 ? even : odd).add(all.back());
  }
  even += odd;
  CHECK(even.count() == all.size());
  for (const double p : {0.001, 0.1, 0.5, 0.9, 0.99, 0.999}) {
    const auto exact = static_cast<double>(exact_quantile(all, p));
    CHECK(std::abs(even.quantile(p) - exact) < exact / 1024);
  }
  CHECK(even.max() == static_cast<double>(*std::max_element(all.begin(), all.end())));
}

TEST_CASE("quantiles: percentiles are within 1/1024 of the exact ones, and the maximum is exact") {
  double worst = 0;
  for (const unsigned shift : {1u, 2u, 10u, 20u, 30u, 36u}) {
    for (const uint64_t bucket : {1024u, 1500u, 2047u}) {
      for (const bool most_at_top : {false, true}) {
        const std::vector<uint64_t> latencies = lopsided_bucket(shift, bucket, most_at_top);
        const analyzer::IntervalSummary summary = summary_of(latencies);
        CHECK(summary.max_ns == static_cast<double>(exact_quantile(latencies, 1)));
        for (const auto& [p, ns] : reported(summary)) {
          const auto exact = static_cast<double>(exact_quantile(latencies, p));
          CAPTURE(shift, bucket, most_at_top, p);
          CHECK(std::abs(ns - exact) < exact / 1024);
          worst = std::max(worst, std::abs(ns - exact) / exact);
        }
      }
    }
  }
  // The bound is needed: percentiles are not exact where a bucket is wider than 1 ns.
  CHECK(worst > 0.9 / 1024);
}

TEST_CASE("quantiles: percentiles below 2048 ns are exact") {
  std::vector<uint64_t> latencies;
  for (uint64_t i = 0; i < 4000; ++i) {
    latencies.push_back((i * 7919 + i * i) % 2048);
  }
  for (const auto& [p, ns] : reported(summary_of(latencies))) {
    CHECK(ns == static_cast<double>(exact_quantile(latencies, p)));
  }
}

TEST_CASE("the tail has as many intervals as it says") {
  analyzer::Histogram latencies;
  for (uint64_t i = 1; i <= 1000; ++i) {
    latencies.add(i * 1000);
  }
  const auto tail = latencies.tail(0.99);  // 990, the 99th percentile, and the 10 above it
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

TEST_CASE("the latency, its labels, and the variance between them") {
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
