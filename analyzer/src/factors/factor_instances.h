// Factors with all their instances: what Algorithm 1 collects in its first loop (lines 1 to 10).
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "factors/variance_tree.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The variance of a function, or the covariance of two, with all places where it occurs.
struct FactorInstances {
  Factor factor;
  std::vector<uint32_t> nodes;   ///< of a variance
  std::vector<uint32_t> pairs;   ///< of a covariance
  std::vector<uint32_t> places;  ///< of a variance: those of the outermost instances
  /// The weight under each ranking.
  double by_share = 0, by_variance = 0;
  /// The greatest magnitude that the share or contribution could have, given how much the functions
  /// vary: it does not depend on whether they vary together.
  double potential = 0;

  double weight(Ranking ranking) const {
    return ranking == Ranking::kShare ? by_share : by_variance;
  }
};

/// One or two values of TreeNode::factor; the second is empty for a variance.
using FactorKey = std::pair<std::string, std::string>;

/// All factors of the tree, without estimates of error.
std::map<FactorKey, FactorInstances> collect_factors(const VarianceTree& tree,
                                                     const Options& options);

}  // namespace vprof::analyzer
