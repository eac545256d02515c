// Confidence intervals of contributions, from batches that follow each other in time.
#pragma once

#include <array>
#include <vector>

#include "account.h"
#include "variance_tree.h"

namespace vprof::analyzer {

/// 95 % confidence intervals by the jackknife that leaves out one batch at a time, batches being of
/// unequal size (Busing, Meijer and van der Leeden 1999). Neighbouring intervals share contention,
/// so neighbours are left out together.
class Jackknife {
 public:
  Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches);

  /// Of the sum of the contributions of these nodes and pairs of the tree, which is `theta`. With
  /// fewer than two batches: {theta, theta}.
  std::array<double, 2> interval(double theta, const std::vector<uint32_t>& nodes,
                                 const std::vector<uint32_t>& pairs) const;

 private:
  NodeSums sum(uint32_t place) const;
  long double variance_without(NodeSums total, uint32_t place, const BatchSums& batch) const;
  void add_node(uint32_t place, std::vector<long double>& left) const;
  void add_pair(const TreePair& pair, std::vector<long double>& left) const;

  const VarianceTree& tree_;
  const std::vector<Batch>& batches_;
  uint64_t n_ = 0;
  std::vector<long double> without_;  // variance of the latency without batch b
};

}  // namespace vprof::analyzer
