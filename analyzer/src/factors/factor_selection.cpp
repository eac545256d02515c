#include "factors/factor_selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "factors/jackknife.h"

namespace vprof::analyzer {
namespace {

/// A factor whose instances are being collected.
struct FactorInstances {
  Factor factor;
  std::vector<uint32_t> nodes;  // of a variance
  std::vector<uint32_t> pairs;  // of a covariance
};

std::vector<std::string> path_to(const VarianceTree& tree, uint32_t node) {
  std::vector<std::string> path;
  for (; node != kNoPlace; node = tree.nodes[node].parent) {
    path.push_back(tree.nodes[node].name);
  }
  std::reverse(path.begin(), path.end());
  return path;
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

class FactorRanking {
 public:
  FactorRanking(const VarianceTree& tree, const std::vector<PlaceExemplars>& exemplars,
                const Options& options)
      : tree_(tree),
        exemplars_(exemplars),
        options_(options),
        dominated_(dominated_nodes(tree, options.dominance)),
        graph_height_(graph_height(tree)) {}

  std::vector<Factor> rank(const std::vector<Batch>& batches) {
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      add_node(i);
    }
    for (uint32_t i = 0; i < tree_.pairs.size(); ++i) {
      add_pair(i);
    }
    const Jackknife jackknife(tree_, batches);
    std::vector<Factor> factors;
    for (auto& [key, collected] : factors_) {
      if (std::abs(collected.factor.contribution) < options_.least_listed) {
        continue;
      }
      std::erase_if(collected.nodes, [&](uint32_t node) { return dominated_[node]; });
      const Jackknife::FactorEstimate estimate =
          jackknife.estimate(collected.factor.contribution, collected.nodes, collected.pairs);
      collected.factor.ci95 = estimate.contribution.ci95;
      collected.factor.variance_ns2 = estimate.variance_ns2.value;
      collected.factor.error_ns2 = estimate.variance_ns2.error;
      add_exemplars(collected);
      finish(collected.factor);
      factors.push_back(std::move(collected.factor));
    }
    std::sort(factors.begin(), factors.end(), [](const Factor& a, const Factor& b) {
      return std::tie(b.score, b.contribution, a.functions, a.keys, a.kind) <
             std::tie(a.score, a.contribution, b.functions, b.keys, b.kind);
    });
    for (size_t i = 0; i < factors.size(); ++i) {
      factors[i].rank = static_cast<int>(i + 1);
    }
    return factors;
  }

 private:
  // One or two values of TreeNode::factor; the second is empty for a variance.
  using Key = std::pair<std::string, std::string>;

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
    if (!dominated_[index]) {
      factor.contribution += node.contribution;
    }
    factor.share += node.share;
    factor.tail_share += node.tail_share;
    factor.work_share += node.work_share;
    factor.label_share += node.label_share;
    factor.instances.push_back(
        {path_to(tree_, index), node.location, node.contribution, dominated_[index]});
  }

  void add_pair(uint32_t index) {
    const TreePair& pair = tree_.pairs[index];
    if (std::abs(pair.contribution) < kLeastCovariance) {
      return;
    }
    const TreeNode* a = &tree_.nodes[pair.a];
    const TreeNode* b = &tree_.nodes[pair.b];
    if (std::tie(b->name, b->factor) < std::tie(a->name, a->factor)) {
      std::swap(a, b);
    }
    FactorInstances& collected = factors_[{a->factor, b->factor}];
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
    factor.share += a->share + b->share;
    factor.tail_share += a->tail_share + b->tail_share;
    factor.work_share += a->work_share + b->work_share;
    factor.label_share += a->label_share + b->label_share;
    factor.instances.push_back(
        {path_to(tree_, pair.parent), a->location, pair.contribution, false});
  }

  /// From the instance with the largest variance; of a covariance, from the first node of a pair.
  void add_exemplars(FactorInstances& collected) const {
    const auto larger = [&](uint32_t a, uint32_t b) {
      return tree_.nodes[a].variance_ns2 < tree_.nodes[b].variance_ns2;
    };
    uint32_t node = 0;
    if (!collected.pairs.empty()) {
      node = tree_.pairs[collected.pairs.front()].a;
    } else if (!collected.nodes.empty()) {
      node = *std::max_element(collected.nodes.begin(), collected.nodes.end(), larger);
    }
    const uint32_t place = tree_.nodes[node].place;
    if (node == 0 || place >= exemplars_.size()) {
      return;
    }
    const auto shown = [](const PlaceExemplar& exemplar) {
      return Exemplar{exemplar.id, static_cast<double>(exemplar.ns),
                      static_cast<double>(exemplar.latency)};
    };
    for (const PlaceExemplar& exemplar : exemplars_[place].worst) {
      collected.factor.worst.push_back(shown(exemplar));
    }
    std::vector<PlaceExemplar> sorted;
    for (const auto& [hash, exemplar] : exemplars_[place].sampled) {
      sorted.push_back(exemplar);
    }
    std::sort(sorted.begin(), sorted.end());
    const size_t middle = sorted.size() / 2;
    for (size_t i = middle == 0 ? 0 : middle - 1; i < std::min(middle + 2, sorted.size()); ++i) {
      collected.factor.typical.push_back(shown(sorted[i]));
    }
  }

  void finish(Factor& factor) const {
    factor.specificity = specificity(graph_height_, factor.height, options_.specificity);
    factor.score = factor.specificity * factor.contribution;
    std::stable_sort(factor.instances.begin(), factor.instances.end(),
                     [](const Instance& a, const Instance& b) {
                       if (a.dominated != b.dominated) {
                         return b.dominated;
                       }
                       return std::abs(a.contribution) > std::abs(b.contribution);
                     });
  }

  const VarianceTree& tree_;
  const std::vector<PlaceExemplars>& exemplars_;
  const Options& options_;
  const std::vector<bool> dominated_;
  const int graph_height_;
  std::map<Key, FactorInstances> factors_;
};

}  // namespace

int graph_height(const VarianceTree& tree) {
  int height = tree.nodes[0].height;
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    height = std::max(height, tree.nodes[i].height + 1);
  }
  return height;
}

double specificity(int graph_height, int height, Specificity rule) {
  const double distance = std::max(graph_height - height, 0);
  double result = 1;
  for (int i = 0; i < rule_of(rule).power; ++i) {
    result *= distance;
  }
  return result;
}

std::vector<Factor> rank_factors(const VarianceTree& tree, const std::vector<Batch>& batches,
                                 const std::vector<PlaceExemplars>& exemplars,
                                 const Options& options) {
  return FactorRanking(tree, exemplars, options).rank(batches);
}

}  // namespace vprof::analyzer
