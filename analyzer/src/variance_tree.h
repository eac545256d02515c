// The variance tree (dissertation 2.3.2.1): nodes with means, variances, shares; covariances
// between siblings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "moments.h"
#include "path_tree.h"
#include "sites.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

struct TreeNode {
  NodeKind kind = NodeKind::kFunction;
  uint32_t parent = kNone;
  uint32_t path_node = 0;  ///< in the sums
  std::string name;
  std::string key;     ///< of a function in sites.json, else empty
  std::string factor;  ///< instances with the same one are one factor
  std::string site;
  std::string definition;  ///< of the function, or of the one whose body this is
  int height = 0;
  bool expandable = false;
  bool expanded = false;
  double mean_ns = 0, variance_ns2 = 0, contribution = 0, share = 0, tail_share = 0;
  uint64_t count = 0;
  std::vector<uint32_t> children;
};

/// Two siblings a < b.
struct TreePair {
  uint32_t parent, a, b;
  double covariance_ns2 = 0, contribution = 0;
};

/// Parents stand before their children; node 0 is the root.
struct VarianceTree {
  std::vector<TreeNode> nodes;
  std::vector<TreePair> pairs;
};

/// From the sums of all intervals. Nodes without time are left out; so are bodies that are all
/// there is of their node. Children are in order of falling variance, then name, then site.
VarianceTree make_variance_tree(const PathTree& tree, const Sites& sites, const BatchSums& total,
                                const std::string& root_name);

Node to_public(const VarianceTree& tree);

}  // namespace vprof::analyzer
