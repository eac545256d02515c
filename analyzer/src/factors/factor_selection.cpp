#include "factors/factor_selection.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include "factors/jackknife.h"

namespace vprof::analyzer {
namespace {

bool waits(NodeKind kind) { return kind == NodeKind::kWait || kind == NodeKind::kQueue; }

/// What of a wait nobody is blamed for: its own rest, and wakers seen outside any frame.
bool unexplained(const TreeNode& node) {
  return node.kind == NodeKind::kBody || node.kind == NodeKind::kUntracked;
}

/// A factor while its instances are collected: nodes for a variance, pairs for a covariance.
struct Draft {
  Factor factor;
  std::vector<uint32_t> nodes;
  std::vector<uint32_t> pairs;
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

/// Of a pair: what can still be done about it, expanding one of them.
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

class Ranking {
 public:
  Ranking(const VarianceTree& tree, const std::vector<Samples>& samples, const Options& options)
      : tree_(tree),
        samples_(samples),
        options_(options),
        dominated_(dominated_nodes(tree, options.dominance)),
        graph_height_(graph_height(tree)) {}

  std::vector<Factor> run(const std::vector<Batch>& batches) {
    for (uint32_t i = 1; i < tree_.nodes.size(); ++i) {
      add_node(i);
    }
    for (uint32_t i = 0; i < tree_.pairs.size(); ++i) {
      add_pair(i);
    }
    const Jackknife jackknife(tree_, batches);
    std::vector<Factor> factors;
    for (auto& [key, draft] : drafts_) {
      if (std::abs(draft.factor.contribution) < options_.least_listed) {
        continue;
      }
      std::erase_if(draft.nodes, [&](uint32_t node) { return dominated_[node]; });
      const Jackknife::Pair estimate =
          jackknife.estimate(draft.factor.contribution, draft.nodes, draft.pairs);
      draft.factor.ci95 = estimate.contribution.ci95;
      draft.factor.variance_ns2 = estimate.variance_ns2.value;
      draft.factor.error_ns2 = estimate.variance_ns2.error;
      add_exemplars(draft);
      finish(draft.factor);
      factors.push_back(std::move(draft.factor));
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
  using Key = std::pair<std::string, std::string>;  // the second is empty for a variance

  void add_node(uint32_t index) {
    const TreeNode& node = tree_.nodes[index];
    Draft& draft = drafts_[{node.factor, ""}];
    Factor& factor = draft.factor;
    if (draft.nodes.empty()) {
      factor.functions = {node.name};
      factor.keys = {node.key};
      factor.definition = node.definition;
      factor.height = node.height;
      factor.status = status_of(node);
    }
    draft.nodes.push_back(index);
    if (!dominated_[index]) {
      factor.contribution += node.contribution;
    }
    factor.share += node.share;
    factor.tail_share += node.tail_share;
    factor.work_share += node.work_share;
    factor.label_share += node.label_share;
    factor.instances.push_back(
        {path_to(tree_, index), node.site, node.contribution, dominated_[index]});
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
    Draft& draft = drafts_[{a->factor, b->factor}];
    Factor& factor = draft.factor;
    if (draft.pairs.empty()) {
      factor.kind = FactorKind::kCovariance;
      factor.functions = {a->name, b->name};
      factor.keys = {a->key, b->key};
      factor.definition = a->definition;
      factor.height = std::max(a->height, b->height);
      factor.status = status_of(*a, *b);
    }
    draft.pairs.push_back(index);
    factor.contribution += pair.contribution;
    factor.share += a->share + b->share;
    factor.tail_share += a->tail_share + b->tail_share;
    factor.work_share += a->work_share + b->work_share;
    factor.label_share += a->label_share + b->label_share;
    factor.instances.push_back({path_to(tree_, pair.parent), a->site, pair.contribution, false});
  }

  /// Of its largest instance; of a pair, of the first of the two.
  void add_exemplars(Draft& draft) const {
    const auto larger = [&](uint32_t a, uint32_t b) {
      return tree_.nodes[a].variance_ns2 < tree_.nodes[b].variance_ns2;
    };
    uint32_t node = 0;
    if (!draft.pairs.empty()) {
      node = tree_.pairs[draft.pairs.front()].a;
    } else if (!draft.nodes.empty()) {
      node = *std::max_element(draft.nodes.begin(), draft.nodes.end(), larger);
    }
    const uint32_t place = tree_.nodes[node].place;
    if (node == 0 || place >= samples_.size()) {
      return;
    }
    const auto show = [](const Sample& sample) {
      return Exemplar{sample.id, static_cast<double>(sample.ns),
                      static_cast<double>(sample.latency)};
    };
    for (const Sample& sample : samples_[place].worst) {
      draft.factor.worst.push_back(show(sample));
    }
    std::vector<Sample> sorted;
    for (const auto& [hash, sample] : samples_[place].sampled) {
      sorted.push_back(sample);
    }
    std::sort(sorted.begin(), sorted.end());
    const size_t middle = sorted.size() / 2;
    for (size_t i = middle == 0 ? 0 : middle - 1; i < std::min(middle + 2, sorted.size()); ++i) {
      draft.factor.typical.push_back(show(sorted[i]));
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
  const std::vector<Samples>& samples_;
  const Options& options_;
  const std::vector<bool> dominated_;
  const int graph_height_;
  std::map<Key, Draft> drafts_;
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

namespace {

/// Nothing but its own time and that without a processor: the body is the function.
bool is_whole(const VarianceTree& tree, const TreeNode& body) {
  const std::vector<uint32_t>& siblings = tree.nodes[body.parent].children;
  return body.kind == NodeKind::kBody && body.parent != 0 &&
         std::all_of(siblings.begin(), siblings.end(), [&](uint32_t sibling) {
           const NodeKind kind = tree.nodes[sibling].kind;
           return kind == NodeKind::kBody || kind == NodeKind::kPreempted;
         });
}

}  // namespace

std::vector<bool> dominated_nodes(const VarianceTree& tree, double dominance) {
  std::vector<bool> result(tree.nodes.size(), false);
  std::vector<double> explained(tree.nodes.size(),
                                0);  // of a wait: variance that goes with somebody's work
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    const TreeNode& parent = tree.nodes[node.parent];
    const bool holds_parent = node.variance_ns2 >= dominance * parent.variance_ns2;
    if (waits(parent.kind) && unexplained(node)) {
      // The wait says it better: one of the two counts, and it is the one with a name that a user
      // knows.
      result[i] = node.kind == NodeKind::kUntracked || holds_parent;
      continue;
    }
    if (holds_parent && is_whole(tree, node)) {
      result[i] = true;
      continue;
    }
    explained[node.parent] += node.variance_ns2;
    if (holds_parent && parent.variance_ns2 > 0) {
      result[node.parent] = true;
    }
  }
  for (const TreePair& pair : tree.pairs) {
    const TreeNode& parent = tree.nodes[pair.parent];
    const int known =
        (unexplained(tree.nodes[pair.a]) ? 0 : 1) + (unexplained(tree.nodes[pair.b]) ? 0 : 1);
    explained[pair.parent] += known * pair.covariance_ns2;
    const bool counts = !waits(parent.kind) || known == 2;
    if (counts && parent.variance_ns2 > 0 &&
        2 * pair.covariance_ns2 >= dominance * parent.variance_ns2) {
      result[pair.parent] = true;
    }
  }
  // A wait that others' work explains yields to that work, though it may be spread over several
  // functions.
  for (size_t i = 1; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    if (waits(node.kind) && node.variance_ns2 > 0 &&
        explained[i] >= dominance * node.variance_ns2) {
      result[i] = true;
    }
  }
  return result;
}

std::vector<Factor> rank_factors(const VarianceTree& tree, const std::vector<Batch>& batches,
                                 const std::vector<Samples>& samples, const Options& options) {
  return Ranking(tree, samples, options).run(batches);
}

}  // namespace vprof::analyzer
