// Pruning: which nodes of the variance tree their descendants explain.
#include <algorithm>
#include <cmath>

#include "factors/factor_selection.h"

namespace vprof::analyzer {
namespace {

bool waits(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

/// The part of a wait that no function is to blame for: its own body, and wakers outside any frame.
bool is_unexplained(const TreeNode& node) {
  return node.kind == NodeKind::kBody || node.kind == NodeKind::kUntracked;
}

/// A function that, as far as is measured, only computes and is preempted.
bool only_computes(const VarianceTree& tree, size_t i) {
  const std::vector<uint32_t>& children = tree.nodes[i].children;
  return i != 0 && !children.empty() &&
         std::all_of(children.begin(), children.end(), [&](uint32_t child) {
           const NodeKind kind = tree.nodes[child].kind;
           return kind == NodeKind::kBody || kind == NodeKind::kPreempted;
         });
}

class DominanceFinder {
 public:
  DominanceFinder(const VarianceTree& tree, double dominance, Ranking ranking)
      : tree_(tree),
        dominance_(dominance),
        by_share_(ranking == Ranking::kShare),
        dominated_(tree.nodes.size(), false),
        blamed_(tree.nodes.size(), 0) {}

  std::vector<NodeWeight> find() {
    for (size_t i = 1; i < tree_.nodes.size(); ++i) {
      visit_node(i);
    }
    for (const TreePair& pair : tree_.pairs) {
      visit_pair(pair);
    }
    std::vector<NodeWeight> weights(tree_.nodes.size());
    for (size_t i = 1; i < tree_.nodes.size(); ++i) {
      weights[i] = weight_of(i);
    }
    return weights;
  }

 private:
  double value(const TreeNode& node) const { return by_share_ ? node.share : node.contribution; }

  /// Whether a child stands for its parent. Shares of children add up, so what is left of the
  /// parent's must be small: a child whose share another one cancels does not explain the parent.
  bool makes_up(const TreeNode& child, const TreeNode& parent) const {
    const double whole = value(parent);
    if (whole <= 0) {
      return false;
    }
    return by_share_ ? std::abs(whole - child.share) <= (1 - dominance_) * whole + kRounding
                     : child.variance_ns2 >= dominance_ * parent.variance_ns2;
  }

  /// A wait yields to the work that explains it, even if several functions share that work; and a
  /// function that only computes, to what took its processor.
  NodeWeight weight_of(size_t i) const {
    const TreeNode& node = tree_.nodes[i];
    const double whole = value(node);
    const bool yields = (waits(node.kind) || only_computes(tree_, i)) && whole > 0;
    if (dominated_[i] || (yields && blamed_[i] >= dominance_ * whole) ||
        counts_with_function(node)) {
      return {.dominated = true, .counted = 0};
    }
    // Variances do not add up, so there is no rest.
    const double explained = yields && by_share_ ? std::max(blamed_[i], 0.0) : 0;
    return {.dominated = false, .counted = whole - explained};
  }

  /// Whether the function counts what its body takes.
  bool counts_with_function(const TreeNode& body) const {
    return by_share_ && body.kind == NodeKind::kBody && only_computes(tree_, body.parent) &&
           !dominated_[body.parent];
  }

  void visit_node(size_t i) {
    const TreeNode& node = tree_.nodes[i];
    const TreeNode& parent = tree_.nodes[node.parent];
    const bool holds_parent = makes_up(node, parent);
    if (waits(parent.kind) && is_unexplained(node)) {
      // Only one of the two may count, and the wait has the name that a user knows.
      dominated_[i] = by_share_ || node.kind == NodeKind::kUntracked || holds_parent;
      return;
    }
    if (node.kind == NodeKind::kBody && only_computes(tree_, node.parent)) {
      dominated_[i] = holds_parent;
      return;
    }
    blamed_[node.parent] += value(node);
    if (holds_parent) {
      dominated_[node.parent] = true;
    }
  }

  /// Covariances are within the shares already.
  void visit_pair(const TreePair& pair) {
    if (by_share_) {
      return;
    }
    const TreeNode& parent = tree_.nodes[pair.parent];
    const int explained = (is_unexplained(tree_.nodes[pair.a]) ? 0 : 1) +
                          (is_unexplained(tree_.nodes[pair.b]) ? 0 : 1);
    blamed_[pair.parent] += explained * pair.contribution / 2;
    const bool counts = !waits(parent.kind) || explained == 2;
    if (counts && parent.variance_ns2 > 0 &&
        2 * pair.covariance_ns2 >= dominance_ * parent.variance_ns2) {
      dominated_[pair.parent] = true;
    }
  }

  static constexpr double kRounding = 1e-12;

  const VarianceTree& tree_;
  const double dominance_;
  const bool by_share_;
  std::vector<bool> dominated_;  // by node
  std::vector<double> blamed_;   // by node that may yield: what goes with what it yields to
};

}  // namespace

std::vector<NodeWeight> node_weights(const VarianceTree& tree, double dominance, Ranking ranking) {
  return DominanceFinder(tree, dominance, ranking).find();
}

}  // namespace vprof::analyzer
