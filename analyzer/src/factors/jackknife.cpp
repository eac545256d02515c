#include "factors/jackknife.h"

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

// n intervals make max(kFewestBatches, n^kBatchPower) batches: 6 for 1,000, 10 for 10,000, 18 for
// 100,000.
constexpr double kBatchPower = 0.25;
constexpr double kFewestBatches = 6;

/// 0.975 quantile of Student's t. From 30 degrees of freedom on it is that of 30, which is at most
/// 5 % too large.
double t_quantile(size_t degrees) {
  constexpr std::array<double, 30> kByDegrees = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return degrees == 0 ? 0 : kByDegrees[std::min(degrees, kByDegrees.size()) - 1];
}

uint64_t count_of(const std::vector<Batch>& batches) {
  uint64_t n = 0;
  for (const Batch& batch : batches) {
    n += batch.sums.n;
  }
  return n;
}

}  // namespace

Estimate jackknife(double value, const std::vector<long double>& without,
                   const std::vector<Batch>& batches, bool is_fraction) {
  if (without.size() < 2) {
    return {value, 0, {value, value}};
  }
  const auto g = static_cast<long double>(without.size());
  const auto n = static_cast<long double>(count_of(batches));
  long double centre = g * value;
  for (size_t b = 0; b < without.size(); ++b) {
    centre -= (1 - static_cast<long double>(batches[b].sums.n) / n) * without[b];
  }
  long double squares = 0;
  for (size_t b = 0; b < without.size(); ++b) {
    const long double h = n / static_cast<long double>(batches[b].sums.n);
    const long double distance = h * value - (h - 1) * without[b] - centre;
    squares += distance * distance / (h - 1);
  }
  const auto error = static_cast<double>(std::sqrt(squares / g));
  const double reach = t_quantile(without.size() - 1) * error;
  if (is_fraction && value > 0 && value < 1) {
    const double width = reach / (value * (1 - value));
    const double logit = std::log(value / (1 - value));
    return {value, error, {1 / (1 + std::exp(width - logit)), 1 / (1 + std::exp(-width - logit))}};
  }
  return {value, error, {value - reach, value + reach}};
}

std::vector<Batch> join_batches(const std::vector<Batch>& batches) {
  const auto n = static_cast<double>(count_of(batches));
  const double wanted = std::max(kFewestBatches, std::pow(n, kBatchPower));
  const auto joined =
      static_cast<size_t>(std::max(1.0, std::round(static_cast<double>(batches.size()) / wanted)));
  std::vector<Batch> result;
  size_t in_last = joined;
  for (const Batch& batch : batches) {
    if (in_last == joined || result.back().run != batch.run) {
      result.push_back(batch);
      in_last = 1;
    } else {
      result.back().sums += batch.sums;
      ++in_last;
    }
  }
  return result;
}

Jackknife::Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches)
    : tree_(tree), batches_(join_batches(batches)) {
  if (batches_.size() < 2) {
    return;
  }
  n_ = count_of(batches_);
  const NodeSums root = sum(0);
  for (const Batch& batch : batches_) {
    latency_variance_without_.push_back(variance_without(root, 0, batch.sums));
  }
}

Jackknife::FactorEstimate Jackknife::estimate(double contribution,
                                              const std::vector<uint32_t>& nodes,
                                              const std::vector<uint32_t>& pairs) const {
  const double variance_ns2 = contribution * tree_.nodes[0].variance_ns2;
  std::vector<long double> without(latency_variance_without_.size());
  if (!without.empty()) {
    for (const uint32_t node : nodes) {
      add_node(tree_.nodes[node].place, without);
    }
    for (const uint32_t pair : pairs) {
      add_pair(tree_.pairs[pair], without);
    }
  }
  FactorEstimate result;
  result.variance_ns2 = jackknife(variance_ns2, without, batches_, false);
  for (size_t b = 0; b < without.size(); ++b) {
    const long double all = latency_variance_without_[b];
    without[b] = all > 0 ? without[b] / all : 0;
  }
  result.contribution = jackknife(contribution, without, batches_, true);
  return result;
}

NodeSums Jackknife::sum(uint32_t place) const {
  NodeSums total;
  for (const Batch& batch : batches_) {
    total += batch.sums.node(place);
  }
  return total;
}

long double Jackknife::variance_without(NodeSums total, uint32_t place,
                                        const BatchSums& batch) const {
  total -= batch.node(place);
  return variance(n_ - batch.n, total.x, total.xx);
}

void Jackknife::add_node(uint32_t place, std::vector<long double>& without) const {
  const NodeSums total = sum(place);
  for (size_t b = 0; b < without.size(); ++b) {
    without[b] += variance_without(total, place, batches_[b].sums);
  }
}

void Jackknife::add_pair(const TreePair& pair, std::vector<long double>& without) const {
  const TreeNode* a = &tree_.nodes[pair.a];
  const TreeNode* b = &tree_.nodes[pair.b];
  if (a->rank > b->rank) {
    std::swap(a, b);
  }
  const NodeSums sum_a = sum(a->place);
  const NodeSums sum_b = sum(b->place);
  UInt128 xy = 0;
  for (const Batch& batch : batches_) {
    xy += batch.sums.product(b->place, a->rank);
  }
  for (size_t i = 0; i < without.size(); ++i) {
    const BatchSums& batch = batches_[i].sums;
    without[i] +=
        2 * covariance(n_ - batch.n, sum_a.x - batch.node(a->place).x,
                       sum_b.x - batch.node(b->place).x, xy - batch.product(b->place, a->rank));
  }
}

}  // namespace vprof::analyzer
