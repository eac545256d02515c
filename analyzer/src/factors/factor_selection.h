// Ranking of factors: Algorithm 1 of the dissertation (2.3.2.2), with the pruning of dominated
// instances from Algorithm 2 of the technical report, by share or by variance. docs/analysis.md
// says why, and where it goes beyond the two.
#pragma once

#include <cstdint>
#include <vector>

#include "factors/tail_shares.h"
#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A covariance with a smaller contribution than this (in magnitude) is ignored.
inline constexpr double kLeastCovariance = 0.001;

/// What a node of the tree adds to the weight of its factor.
struct NodeWeight {
  bool dominated = false;  ///< its descendants explain it: it adds nothing
  /// Its share or contribution. Of the share of a wait, what the work of others does not explain.
  double counted = 0;
};

/// By node.
std::vector<NodeWeight> node_weights(const VarianceTree& tree, double dominance, Ranking ranking);

/// All factors with a weight of at least Options::least_listed, ranked by score; equal scores by
/// weight, then names. Confidence intervals come from `batches`; without batches they are points.
/// `exemplars`: by place. `tail`: null if there are no tail shares.
std::vector<Factor> rank_factors(const VarianceTree& tree, const std::vector<Batch>& batches,
                                 const std::vector<PlaceExemplars>& exemplars,
                                 const Options& options, const TailShares* tail = nullptr);

/// Height of the call graph: that of sites.json, and at least 1 more than any height in the tree.
int graph_height(const VarianceTree& tree);

/// Equation 2.3, with the power that the user chose. A factor higher than the graph has 0.
double specificity(int graph_height, int height, Specificity rule);

}  // namespace vprof::analyzer
