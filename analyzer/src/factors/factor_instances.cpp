#include "factors/factor_instances.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "factors/factor_selection.h"

namespace vprof::analyzer {
namespace {

constexpr double kLargePlace = 0.05;  // part of the variance

std::vector<std::string> path_to(const VarianceTree& tree, uint32_t node) {
  std::vector<std::string> path;
  for (; node != kNoPlace; node = tree.nodes[node].parent) {
    path.push_back(tree.nodes[node].name);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

std::string call_that_waits(const VarianceTree& tree, const TreeNode& wait) {
  if (wait.kind != NodeKind::kWait || wait.parent == kNoPlace) {
    return "";
  }
  const TreeNode& function = tree.nodes[wait.parent];
  const bool is_function =
      function.kind == NodeKind::kFunction || function.kind == NodeKind::kBlame;
  return is_function && function.definition.empty() ? function.location : "";
}

FactorStatus status_of(const TreeNode& node) {
  if (node.expanded) {
    return FactorStatus::kExpanded;
  }
  return node.expandable ? FactorStatus::kExpandable : FactorStatus::kLeaf;
}

/// A pair can be broken down further if one of the two can.
FactorStatus status_of(const TreeNode& a, const TreeNode& b) {
  const FactorStatus of_a = status_of(a);
  const FactorStatus of_b = status_of(b);
  for (const FactorStatus status : {FactorStatus::kExpandable, FactorStatus::kExpanded}) {
    if (of_a == status || of_b == status) {
      return status;
    }
  }
  return FactorStatus::kLeaf;
}

void add_to(std::optional<double>& sum, const TreeNode& node) {
  if (node.tail_known) {
    sum = sum.value_or(0) + node.tail_share;
  }
}

class FactorCollector {
 public:
  FactorCollector(const VarianceTree& tree, const Options& options)
      : tree_(tree),
        ranking_(options.ranking),
        lists_all_(options.least_listed == 0),
        by_share_(node_weights(tree, options.dominance, Ranking::kShare)),
        by_variance_(node_weights(tree, options.dominance, Ranking::kVariance)) {}

  std::map<FactorKey, FactorInstances> collect() {
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      add_node(i);
    }
    for (const RepeatedPlace& repeated : tree_.repeated) {
      add_repeated(repeated);
    }
    for (uint32_t i = 0; i < tree_.pairs.size(); ++i) {
      add_pair(i);
    }
    for (auto& [key, collected] : factors_) {
      if (key.second.empty()) {
        finish_variance(collected);
      } else {
        finish_covariance(key, collected);
      }
      sort_instances(collected.factor);
    }
    return std::move(factors_);
  }

 private:
  const std::vector<NodeWeight>& weights() const {
    return ranking_ == Ranking::kShare ? by_share_ : by_variance_;
  }

  /// Whether an instance around this one counts in the share of the factor already. A wait that
  /// yields to the work below it does not count what is in that work.
  bool counts_above(uint32_t index) const {
    const TreeNode& node = tree_.nodes[index];
    if (node.outermost) {
      return false;
    }
    for (uint32_t above = node.parent; above != 0 && above != kNoPlace;
         above = tree_.nodes[above].parent) {
      const NodeWeight& weight = by_share_[above];
      if (tree_.nodes[above].factor == node.factor && !weight.dominated &&
          weight.counted == tree_.nodes[above].share) {
        return true;
      }
    }
    return false;
  }

  void add_node(uint32_t index) {
    const TreeNode& node = tree_.nodes[index];
    FactorInstances& collected = factors_[{node.factor, ""}];
    Factor& factor = collected.factor;
    if (collected.nodes.empty()) {
      factor.functions = {node.name};
      factor.keys = {node.key};
      factor.definition = node.definition;
      factor.status = status_of(node);
    }
    factor.height = std::max(factor.height, node.height);
    collected.nodes.push_back(index);
    if (node.outermost) {
      collected.places.push_back(node.place);
      factor.contribution += node.contribution + node.with_others;
      factor.share += node.share;
      factor.work_share += node.work_share;
      factor.label_share += node.label_share;
      add_to(factor.tail_share, node);
    }
    if (!counts_above(index)) {
      collected.by_share += by_share_[index].counted;
    }
    collected.by_variance += by_variance_[index].counted;
    factor.instances.push_back({path_to(tree_, index), node.location, node.contribution,
                                weights()[index].dominated, node.share, !node.outermost,
                                call_that_waits(tree_, node)});
  }

  /// A body that is all of its function is no node, but its time is time of the body.
  void add_repeated(const RepeatedPlace& repeated) {
    const auto found = factors_.find({repeated.factor, ""});
    if (found == factors_.end() && !lists_all_) {
      return;
    }
    const TreeNode& node = tree_.nodes[repeated.node];
    FactorInstances& collected = factors_[{repeated.factor, ""}];
    Factor& factor = collected.factor;
    if (factor.functions.empty()) {
      factor.functions = {repeated.name};
      factor.keys = {""};
      factor.definition = node.definition;
    }
    collected.places.push_back(repeated.place);
    factor.contribution += node.contribution;
    factor.share += node.share;
    factor.work_share += node.work_share;
    factor.label_share += node.label_share;
    add_to(factor.tail_share, node);
  }

  void add_pair(uint32_t index) {
    const TreePair& pair = tree_.pairs[index];
    const TreeNode* a = &tree_.nodes[pair.a];
    const TreeNode* b = &tree_.nodes[pair.b];
    if (std::tie(b->name, b->factor) < std::tie(a->name, a->factor)) {
      std::swap(a, b);
    }
    FactorInstances& collected = factors_[{a->factor, b->factor}];
    collected.potential +=
        2 * std::sqrt(std::max(0.0, a->contribution) * std::max(0.0, b->contribution));
    if (std::abs(pair.contribution) < kLeastCovariance) {
      return;
    }
    Factor& factor = collected.factor;
    if (collected.pairs.empty()) {
      factor.kind = FactorKind::kCovariance;
      factor.functions = {a->name, b->name};
      factor.keys = {a->key, b->key};
      factor.definition = a->definition;
      factor.height = std::max(a->height, b->height);
      factor.status = status_of(*a, *b);
    }
    collected.pairs.push_back(index);
    factor.contribution += pair.contribution;
    factor.instances.push_back({path_to(tree_, pair.parent), a->location, pair.contribution, false,
                                a->share + b->share, !(a->outermost && b->outermost), ""});
  }

  static void finish_variance(FactorInstances& collected) {
    Factor& factor = collected.factor;
    // |Cov(X, T)| is at most the product of the standard deviations.
    collected.potential = std::sqrt(std::max(0.0, factor.contribution));
  }

  /// Sums over the two functions of a pair, each node once.
  struct Side {
    double share = 0, contribution = 0;
    std::set<uint32_t> nodes;
  };

  void finish_covariance(const FactorKey& key, FactorInstances& collected) const {
    Factor& factor = collected.factor;
    std::map<std::string, Side> sides;
    for (const uint32_t index : collected.pairs) {
      for (const uint32_t i : {tree_.pairs[index].a, tree_.pairs[index].b}) {
        const TreeNode& node = tree_.nodes[i];
        Side& side = sides[node.factor];
        if (!node.outermost || !side.nodes.insert(i).second) {
          continue;
        }
        side.share += node.share;
        side.contribution += node.contribution;
        factor.share += node.share;
        factor.work_share += node.work_share;
        factor.label_share += node.label_share;
        add_to(factor.tail_share, node);
      }
    }
    collected.by_variance = factor.contribution;
    if (factor.contribution <= 0) {
      collected.by_share = factor.contribution;
      return;
    }
    // Two instances of one function are one variable, whose variance has their covariance.
    const double product = sides[key.first].contribution * sides[key.second].contribution;
    if (key.first == key.second || product <= 0) {
      return;
    }
    const double correlation = std::min(1.0, factor.contribution / 2 / std::sqrt(product));
    collected.by_share =
        std::max(0.0, 2 * correlation * std::min(sides[key.first].share, sides[key.second].share));
  }

  /// The largest first. What a callee explains comes after what it does not, unless that is little:
  /// the first place is where readers look for the share of the factor.
  void sort_instances(Factor& factor) const {
    const bool by_share = ranking_ == Ranking::kShare && factor.kind == FactorKind::kVariance;
    const auto order = [&](const Instance& one) {
      const double size = std::abs(by_share ? one.share : one.contribution);
      const bool first = !one.dominated && size >= kLargePlace;
      return std::tuple(by_share && one.nested, !first, -size);
    };
    std::stable_sort(factor.instances.begin(), factor.instances.end(),
                     [&](const Instance& a, const Instance& b) { return order(a) < order(b); });
  }

  const VarianceTree& tree_;
  const Ranking ranking_;
  const bool lists_all_;
  const std::vector<NodeWeight> by_share_;
  const std::vector<NodeWeight> by_variance_;
  std::map<FactorKey, FactorInstances> factors_;
};

}  // namespace

std::map<FactorKey, FactorInstances> collect_factors(const VarianceTree& tree,
                                                     const Options& options) {
  return FactorCollector(tree, options).collect();
}

}  // namespace vprof::analyzer
