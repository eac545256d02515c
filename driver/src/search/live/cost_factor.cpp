#include "search/live/cost_factor.h"

#include <algorithm>
#include <cmath>

#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

/// With fewer stretches, their spread says little.
constexpr double kFewest = 8;
/// How much a stretch counts when the next one comes: of some 1,000.
constexpr double kRemembers = 0.999;
constexpr double kPrior = 1, kPriorError = 1;
/// However little it seems to cost: in the pauses the twins of functions with marks run, which adds
/// to what an interval takes there, but not to what is stated of records.
constexpr double kLeast = 1;
constexpr double kOf95 = 1.96;

}  // namespace

void CostFactor::learn(const Work& off, const Work& on, double stated) {
  if (off.begun < 1 || on.begun < 1 || off.processor_ns <= 0 || stated <= 0) {
    return;
  }
  const double x = on.processor_ns - on.begun * off.processor_ns / off.begun;
  const double p = on.processor_ns * stated;
  for (double* sum : {&count_, &beyond_, &stated_}) {
    *sum *= kRemembers;
  }
  for (double* sum : {&xx_, &xp_, &pp_}) {
    *sum *= kRemembers * kRemembers;
  }
  count_ += 1;
  beyond_ += x;
  stated_ += p;
  xx_ += x * x;
  xp_ += x * p;
  pp_ += p * p;
}

CostFactor::Estimate CostFactor::estimate() const {
  const double prior_weight = 1 / (kPriorError * kPriorError);
  double weight = 0;
  double measured = 0;
  if (count_ >= kFewest) {
    measured = beyond_ / stated_;
    const double squares = xx_ - 2 * measured * xp_ + measured * measured * pp_;
    const double error = std::sqrt(std::max(0.0, squares)) / stated_;
    weight = 1 / std::max(error * error, 1e-6);
  }
  const double mean = (kPrior * prior_weight + measured * weight) / (prior_weight + weight);
  return {mean, 1 / std::sqrt(prior_weight + weight)};
}

double CostFactor::cautious() const {
  const auto [mean, error] = estimate();
  return std::max(kLeast, mean + 2 * error);
}

void CostFactor::apply(analyzer::Overhead& overhead) const {
  const auto [mean, error] = estimate();
  overhead.cost_factor = std::max(kLeast, mean);
  const double most = mean + kOf95 * error;
  if (count_ >= kFewest && most > kLeast) {
    overhead.cost_factor_ci95 = {std::max(kLeast, mean - kOf95 * error), most};
  }
}

Work Alternation::taken() {
  const Work work = since_ ? since_->done() : Work();
  since_.reset();
  return work;
}

void Alternation::learn(const analyzer::Overhead& overhead, CostFactor& factor) {
  // Processes also start their recording where intervals are counted, so that is no difference.
  const double added = analyzer::added_by(analyzer::recording_ns(overhead), overhead.processor_ns);
  factor.learn(off_, on_, added / (1 + added));
  on_ = off_ = {};
}

}  // namespace vprof::driver
