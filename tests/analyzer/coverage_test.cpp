// Do 95 % confidence intervals contain the truth 95 times out of 100? Tested on data whose truth is
// known, with heavy tails and with neighbours that resemble each other.
//
// `vprof_analyzer_tests "[coverage]"` prints the figures of docs/analysis.md.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdio>
#include <random>

#include "factors/factor_selection.h"
#include "factors/variance_tree.h"

using namespace vprof::analyzer;

namespace {

/// A request is exponential work and, for one request in five, a log-normal wait for a lock with
/// sigma 1: the slowest 1 % of the waits hold a tenth of all waiting time. Waits come in bursts of
/// twenty on average, as contention does.
struct Server {
  static constexpr double kWork = 100e3;       // ns, mean
  static constexpr double kMedianWait = 60e3;  // ns
  static constexpr double kWaiting = 0.2;
  static constexpr double kBurst = 20;

  explicit Server(uint64_t seed) : random(seed) {}

  std::pair<uint64_t, uint64_t> next() {
    const double leave = 1 / kBurst;
    const double enter = leave * kWaiting / (1 - kWaiting);
    if (uniform(random) < (contended ? leave : enter)) {
      contended = !contended;
    }
    const double work = -kWork * std::log(1 - uniform(random));
    const double wait = contended ? kMedianWait * std::exp(normal(random)) : 0;
    return {static_cast<uint64_t>(work), static_cast<uint64_t>(wait)};
  }

  static double true_contribution() {
    const double first = kWaiting * kMedianWait * std::exp(0.5);
    const double second = kWaiting * kMedianWait * kMedianWait * std::exp(2.0);
    const double wait = second - first * first;
    return wait / (wait + kWork * kWork);
  }

  std::mt19937_64 random;
  std::uniform_real_distribution<double> uniform;
  std::normal_distribution<double> normal;
  bool contended = false;
};

std::array<double, 2> interval_of_wait(uint64_t seed, uint64_t n) {
  Server server(seed);
  for (int i = 0; i < 200; ++i) {
    server.next();
  }
  IntervalSums sums;
  sums.interval = "request";
  sums.places.resize(3);
  for (uint32_t place : {1u, 2u}) {
    sums.places[place].parent = 0;
    sums.places[place].rank = place - 1;
    sums.places[place].name = sums.places[place].key = place == 1 ? "work" : "wait";
  }
  unsigned shift = 0;
  while (n >> shift >= kMostBatches) {
    ++shift;
  }
  sums.batches.resize(((n - 1) >> shift) + 1);
  for (uint64_t i = 0; i < n; ++i) {
    const auto [work, wait] = server.next();
    const uint64_t latency = work + wait;
    sums.latencies.add(latency);
    BatchSums& batch = sums.batches[i >> shift].sums;
    ++batch.n;
    batch.add_node(0, latency, latency);
    batch.add_node(1, work, latency);
    if (wait == 0) {
      continue;
    }
    batch.add_node(2, wait, latency);
    batch.add_product(2, 0, UInt128{work} * wait);
  }
  Options options;
  options.least_listed = 0;
  for (const Factor& factor : rank_factors(build_variance_tree(sums), sums.batches, {}, options)) {
    if (factor.functions == std::vector<std::string>{"wait"}) {
      return factor.ci95;
    }
  }
  return {0, 0};
}

double coverage(uint64_t n, int runs) {
  const double truth = Server::true_contribution();
  int hits = 0;
  for (int run = 0; run < runs; ++run) {
    const auto interval = interval_of_wait(static_cast<uint64_t>(run) * 7919 + n, n);
    hits += interval[0] <= truth && truth <= interval[1] ? 1 : 0;
  }
  return static_cast<double>(hits) / runs;
}

}  // namespace

TEST_CASE("confidence intervals: coverage", "[.][coverage]") {
  for (const uint64_t n : {200, 1000, 10'000, 100'000}) {
    std::printf("%8llu intervals: %.1f %% of 95 %% confidence intervals contain the truth\n",
                static_cast<unsigned long long>(n), 100 * coverage(n, n > 50'000 ? 500 : 2000));
  }
}

TEST_CASE("confidence intervals contain the truth often enough") {
  CHECK(coverage(1000, 400) >= 0.90);
  CHECK(coverage(10'000, 200) >= 0.90);
}
