// Which factors explain the variance: Algorithm 1 with the pruning of the technical report's
// Algorithm 2.
#pragma once

#include <cstdint>
#include <vector>

#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The least contribution with which a covariance is looked at.
inline constexpr double kLeastCovariance = 0.001;

/// By node: whether what lies below explains it, so that it counts nothing itself.
std::vector<bool> dominated_nodes(const VarianceTree& tree, double dominance);

/// Ranked by score; equal scores by contribution, then names. `batches` give the confidence
/// intervals; without any, the intervals are points.
std::vector<Factor> rank_factors(const VarianceTree& tree, const std::vector<Batch>& batches,
                                 const std::vector<Samples>& samples, const Options& options);

/// Height of the call graph below the interval, as far as the tree knows it.
int graph_height(const VarianceTree& tree);

/// (graph height - height) to the power the user chose (equation 2.3).
double specificity(int graph_height, int height, Specificity rule);

}  // namespace vprof::analyzer
