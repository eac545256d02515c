// What recording really costs, in simulated programs.
#include <catch2/catch.hpp>
#include <random>

#include "search/live/cost_factor.h"
#include "vprof/analyzer/overhead.h"

using namespace vprof;
using namespace vprof::driver;

namespace {

/// A program of which single stretches differ by chance, and which becomes slower or faster.
struct Program {
  double cost = 0.1;    // of recording, as a part of the processor time without it
  double stated = 0.1;  // the same, as it is stated
  double spread = 0;    // of the processor time of an interval, between stretches
  double trend = 0;     // by which it grows from one stretch to the next
};

CostFactor measured(const Program& program, int stretches, unsigned seed = 1) {
  CostFactor factor;
  std::mt19937 random(seed);
  std::normal_distribution<> by_chance(1, program.spread);
  double each = 1000;
  const auto work = [&](double count, double times) {
    each *= 1 + program.trend;
    return Work{each * count * times * by_chance(random), count};
  };
  for (int i = 0; i < stretches; ++i) {
    const Work off = work(3000, 1);
    const Work on = work(1000, 1 + program.cost);
    factor.learn(off, on, program.stated / (1 + program.cost));
  }
  return factor;
}

analyzer::Overhead overhead_of(const CostFactor& factor) {
  analyzer::Overhead overhead;
  factor.apply(overhead);
  return overhead;
}

}  // namespace

TEST_CASE("cost factor: before anything is measured, the stated cost holds, with caution") {
  const CostFactor factor;
  CHECK(overhead_of(factor).cost_factor == 1);
  CHECK(overhead_of(factor).cost_factor_ci95[1] == 0);
  CHECK(factor.cautious() == 3);
  const CostFactor few = measured({.cost = 0.3}, 7);
  CHECK(overhead_of(few).cost_factor == 1);
}

TEST_CASE("cost factor: real cost over stated cost") {
  for (const double times : {1.0, 3.0, 8.0}) {
    const CostFactor factor = measured({.cost = times * 0.05, .stated = 0.05}, 200);
    CHECK(overhead_of(factor).cost_factor == Approx(times).epsilon(0.01));
    CHECK(factor.cautious() == Approx(times).epsilon(0.01));
  }
}

TEST_CASE("cost factor: recording never counts as less than is stated") {
  const CostFactor none = measured({.cost = 0, .stated = 0.05}, 200);
  CHECK(overhead_of(none).cost_factor == 1);
  CHECK(overhead_of(none).cost_factor_ci95[1] == 0);  // nothing better is known
  CHECK(none.cautious() == 1);
  const CostFactor unclear = measured({.cost = 0.04, .stated = 0.05, .spread = 0.2}, 100);
  const auto [low, high] = overhead_of(unclear).cost_factor_ci95;
  CHECK(low == 1);
  CHECK(high > 1);
}

TEST_CASE("cost factor: what grows slowly is no cost") {
  const CostFactor factor = measured({.cost = 0.1, .trend = 1e-4}, 500);
  CHECK(overhead_of(factor).cost_factor == Approx(1).epsilon(0.01));
}

TEST_CASE("cost factor: the interval contains the truth, as often as it says") {
  int contained = 0;
  int above = 0;
  constexpr int kPrograms = 1000;
  for (unsigned i = 0; i < kPrograms; ++i) {
    const Program program{.cost = 0.15, .stated = 0.05, .spread = 0.1};
    const auto factor = measured(program, 150, i);
    const auto [low, high] = overhead_of(factor).cost_factor_ci95;
    contained += low <= 3 && 3 <= high ? 1 : 0;
    above += factor.cautious() >= 3 ? 1 : 0;
    CHECK(high > low);
  }
  // It is pulled towards 1, by 0.1 here: half of its standard error.
  CHECK(contained >= 0.92 * kPrograms);
  CHECK(above >= 0.9 * kPrograms);
}

TEST_CASE("cost factor: of a program that changes, the old stretches are forgotten") {
  CostFactor factor;
  const auto learn = [&](double times, int stretches) {
    for (int i = 0; i < stretches; ++i) {
      factor.learn({1000, 1}, {1000 * (1 + times * 0.05), 1}, 0.05 / (1 + times * 0.05));
    }
  };
  learn(1, 5000);
  learn(4, 5000);
  CHECK(overhead_of(factor).cost_factor == Approx(4).epsilon(0.05));
}

TEST_CASE("cost factor: stretches without intervals say nothing") {
  CostFactor factor;
  for (int i = 0; i < 100; ++i) {
    factor.learn({1000, 0}, {1000, 1}, 0.05);
    factor.learn({1000, 1}, {1000, 0}, 0.05);
    factor.learn({1000, 1}, {1000, 1}, 0);
  }
  CHECK(overhead_of(factor).cost_factor == 1);
}

TEST_CASE("cost factor: it multiplies what is stated, but not the helper") {
  analyzer::Overhead overhead;
  overhead.records = 100;
  overhead.record_ns = 10;
  overhead.helper_ns = 500;
  overhead.processor_ns = 100'000;
  const double recording = analyzer::recording_ns(overhead);
  overhead.cost_factor = 3;
  overhead.cost_factor_ci95 = {2, 4};
  CHECK(analyzer::recording_ns(overhead) == Approx(3 * recording));
  CHECK(analyzer::program_cost(overhead) ==
        Approx(analyzer::added_by(3 * recording + 500, overhead.processor_ns)));
  const auto [low, high] = analyzer::program_cost_ci95(overhead);
  CHECK(low == Approx(analyzer::added_by(2 * recording + 500, overhead.processor_ns)));
  CHECK(high == Approx(analyzer::added_by(4 * recording + 500, overhead.processor_ns)));
  overhead.cost_factor_ci95 = {};
  CHECK(analyzer::program_cost_ci95(overhead)[1] == 0);
}
