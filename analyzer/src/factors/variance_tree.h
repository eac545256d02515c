// The variance tree (dissertation 2.3.2.1): means, variances and shares of the nodes, covariances
// of siblings. For a node with children i, j, ... (equation 2.2)
//
//   Var(node) = Σ Var(i) + Σ 2 Cov(i, j)
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "statistics/interval_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The figures are those of vprof::analyzer::Node.
struct TreeNode {
  NodeKind kind = NodeKind::kFunction;
  uint32_t parent = kNoPlace;
  uint32_t place = 0;  ///< index into IntervalSums::places
  uint32_t rank = 0;   ///< of that place
  std::string name;
  std::string key;         ///< of a function in sites.json, else empty
  std::string factor;      ///< nodes with the same value are instances of one factor
  std::string location;    ///< `file:line` of the call or function
  std::string definition;  ///< `file:line` of the function; of a body: of the function it is in
  int height = 0;
  bool expandable = false;
  bool expanded = false;
  double mean_ns = 0, variance_ns2 = 0, contribution = 0, share = 0, tail_share = 0;
  double work_share = 0, label_share = 0;
  /// Whether the slowest 1 % are known well enough for `tail_share`.
  bool tail_known = true;
  /// Whether no ancestor is an instance of the same factor: then the time of the node is not part
  /// of the time of another instance.
  bool outermost = true;
  /// Cov of the node with the other outermost instances of its factor, as a fraction of
  /// Var(latency). 0 for other nodes.
  double with_others = 0;
  uint64_t count = 0;
  std::vector<uint32_t> children;
};

/// Two siblings, a < b.
struct TreePair {
  uint32_t parent, a, b;
  double covariance_ns2 = 0;
  double contribution = 0;  ///< 2 Cov / Var(latency)
};

/// A place that repeats its parent, and so is no node of the tree.
struct RepeatedPlace {
  uint32_t place;
  uint32_t node;       ///< its parent, which has the same time
  std::string factor;  ///< as TreeNode::factor
  std::string name;    ///< as TreeNode::name
};

/// Parents come before their children; node 0 is the root, the interval.
struct VarianceTree {
  std::vector<TreeNode> nodes;
  std::vector<TreePair> pairs;
  std::vector<RepeatedPlace> repeated;
};

/// The tree of all places with time. An only child that is the same as its parent is left out.
/// Children are sorted by falling variance, then name, then location. Needs at least one interval.
VarianceTree build_variance_tree(const IntervalSums& sums);

/// The same tree with nodes inside each other, as Profile::tree.
Node nested_tree(const VarianceTree& tree);

}  // namespace vprof::analyzer
