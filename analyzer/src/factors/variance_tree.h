// The variance tree (dissertation 2.3.2.1): nodes with means, variances, shares; covariances
// between siblings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "statistics/interval_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

struct TreeNode {
  NodeKind kind = NodeKind::kFunction;
  uint32_t parent = kNoPlace;
  uint32_t place = 0;  ///< in the account
  uint32_t rank = 0;   ///< of the place among its siblings there
  std::string name;
  std::string key;     ///< of a function in sites.json, else empty
  std::string factor;  ///< instances with the same one are one factor
  std::string site;
  std::string definition;  ///< of the function, or of the one whose body this is
  int height = 0;
  bool expandable = false;
  bool expanded = false;
  double mean_ns = 0, variance_ns2 = 0, contribution = 0, share = 0, tail_share = 0;
  double work_share = 0, label_share = 0;
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

/// Bodies that are all there is of their node are left out. Children are in order of falling
/// variance, then name, then site.
VarianceTree make_variance_tree(const Account& account);

Node to_public(const VarianceTree& tree);

}  // namespace vprof::analyzer
