#include "jackknife.h"

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

/// 0.975 quantile of Student's t with 1, 2, ... degrees of freedom.
double t_quantile(size_t degrees) {
  constexpr std::array<double, 30> kTable = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  return degrees == 0 ? 0 : kTable[std::min(degrees, kTable.size()) - 1];
}

}  // namespace

Jackknife::Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches)
    : tree_(tree), batches_(batches) {
  if (batches.size() < 2) return;
  for (const Batch& batch : batches) n_ += batch.sums.n;
  const NodeSums root = sum(0);
  for (const Batch& batch : batches) without_.push_back(variance_without(root, 0, batch.sums));
}

std::array<double, 2> Jackknife::interval(double theta, const std::vector<uint32_t>& nodes,
                                          const std::vector<uint32_t>& pairs) const {
  if (without_.empty()) return {theta, theta};
  std::vector<long double> left(batches_.size());
  for (const uint32_t node : nodes) add_node(tree_.nodes[node].place, left);
  for (const uint32_t pair : pairs) add_pair(tree_.pairs[pair], left);
  for (size_t b = 0; b < left.size(); ++b) left[b] = without_[b] > 0 ? left[b] / without_[b] : 0;
  const auto g = static_cast<long double>(left.size());
  const auto n = static_cast<long double>(n_);
  long double centre = g * theta;
  for (size_t b = 0; b < left.size(); ++b) {
    centre -= (1 - static_cast<long double>(batches_[b].sums.n) / n) * left[b];
  }
  long double squares = 0;
  for (size_t b = 0; b < left.size(); ++b) {
    const long double h = n / static_cast<long double>(batches_[b].sums.n);
    const long double distance = h * theta - (h - 1) * left[b] - centre;
    squares += distance * distance / (h - 1);
  }
  const double reach = t_quantile(left.size() - 1) * static_cast<double>(std::sqrt(squares / g));
  return {theta - reach, theta + reach};
}

NodeSums Jackknife::sum(uint32_t place) const {
  NodeSums total;
  for (const Batch& batch : batches_) total += batch.sums.node(place);
  return total;
}

long double Jackknife::variance_without(NodeSums total, uint32_t place,
                                        const BatchSums& batch) const {
  total -= batch.node(place);
  return variance(n_ - batch.n, total.x, total.xx);
}

void Jackknife::add_node(uint32_t place, std::vector<long double>& left) const {
  const NodeSums total = sum(place);
  for (size_t b = 0; b < left.size(); ++b) {
    left[b] += variance_without(total, place, batches_[b].sums);
  }
}

void Jackknife::add_pair(const TreePair& pair, std::vector<long double>& left) const {
  const TreeNode* a = &tree_.nodes[pair.a];
  const TreeNode* b = &tree_.nodes[pair.b];
  if (a->rank > b->rank) std::swap(a, b);
  const NodeSums sum_a = sum(a->place);
  const NodeSums sum_b = sum(b->place);
  UInt128 xy = 0;
  for (const Batch& batch : batches_) xy += batch.sums.product(b->place, a->rank);
  for (size_t i = 0; i < left.size(); ++i) {
    const BatchSums& batch = batches_[i].sums;
    left[i] +=
        2 * covariance(n_ - batch.n, sum_a.x - batch.node(a->place).x,
                       sum_b.x - batch.node(b->place).x, xy - batch.product(b->place, a->rank));
  }
}

}  // namespace vprof::analyzer
