// Which factors to look at first, and how much they explain together.
#include <algorithm>
#include <cmath>
#include <set>

#include "vprof/analyzer/marks.h"

namespace vprof::analyzer {
namespace {

constexpr double kAll = 0.01;            // a share that differs less from 1 is all of it
constexpr double kLeastInstance = 1e-3;  // share or contribution of a place that is counted

bool is_wait_kind(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

/// All nodes at the end of a path of names. Two calls of one function are two nodes with one path.
void find_nodes(const Node& node, const std::vector<std::string>& path, size_t depth,
                std::vector<const Node*>& found) {
  if (path.empty() || node.function != path[depth]) {
    return;
  }
  if (depth + 1 == path.size()) {
    found.push_back(&node);
    return;
  }
  for (const Node& child : node.children) {
    find_nodes(child, path, depth + 1, found);
  }
}

/// The nodes of a pair: the children of a node with these names.
void add_pair(const Factor& factor, const Node& parent, std::vector<const Node*>& nodes) {
  for (const Node& child : parent.children) {
    if (std::find(factor.functions.begin(), factor.functions.end(), child.function) !=
        factor.functions.end()) {
      nodes.push_back(&child);
    }
  }
}

/// Whether a factor takes the whole of every interval and is made of measured others: the function
/// that the interval is, or a loop around it. It says nothing about where to look.
bool is_whole_interval(const Factor& factor, const Node& root) {
  if (factor.kind != FactorKind::kVariance || factor.status != FactorStatus::kExpanded ||
      std::abs(factor.share - 1) > kAll) {
    return false;
  }
  const std::vector<const Node*> nodes = nodes_of(factor, root);
  return std::any_of(nodes.begin(), nodes.end(), [](const Node* node) {
    return !node->children.empty() && !is_wait_kind(node->kind);
  });
}

bool worth_a_mark(const Factor& factor, const Profile& profile) {
  return factor.weight >= profile.threshold && !may_be_zero(factor, profile.ranking) &&
         !is_whole_interval(factor, profile.tree);
}

/// The share of these nodes. What is within another one of them counts once.
double share_of(const Node& node, const std::set<const Node*>& nodes) {
  if (nodes.contains(&node)) {
    return node.share;
  }
  double share = 0;
  for (const Node& child : node.children) {
    share += share_of(child, nodes);
  }
  return share;
}

}  // namespace

std::vector<const Node*> nodes_of(const Factor& factor, const Node& root) {
  std::vector<const Node*> nodes;
  for (const Instance& instance : factor.instances) {
    std::vector<const Node*> found;
    if (!instance.nested) {
      find_nodes(root, instance.path, 0, found);
    }
    for (const Node* node : found) {
      if (factor.kind == FactorKind::kCovariance) {
        add_pair(factor, *node, nodes);
      } else if (!is_wait_kind(node->kind) || node->location == instance.location) {
        nodes.push_back(node);
      }
    }
  }
  return nodes;
}

const std::array<double, 2>& shown_ci95(const Factor& factor, Ranking ranking) {
  return shows_share(factor, ranking) ? factor.share_ci95 : factor.ci95;
}

bool shows_share(const Factor& factor, Ranking ranking) {
  return ranking == Ranking::kShare && factor.kind == FactorKind::kVariance;
}

bool may_be_zero(const Factor& factor, Ranking ranking) {
  const std::array<double, 2>& ci95 = shown_ci95(factor, ranking);
  const bool known = ci95[0] != 0 || ci95[1] != 0;
  return known && (!factor.significant || (ci95[0] <= 0 && ci95[1] >= 0));
}

size_t other_places(const Factor& factor) {
  size_t count = 0;
  for (size_t i = 1; i < factor.instances.size(); ++i) {
    const Instance& instance = factor.instances[i];
    if (!instance.dominated && !instance.nested &&
        std::max(std::abs(instance.contribution), std::abs(instance.share)) >= kLeastInstance) {
      ++count;
    }
  }
  return count;
}

void mark_factors(Profile& profile) {
  std::set<const Node*> nodes;
  int left = profile.k;
  profile.more_to_tell = false;
  for (Factor& factor : profile.factors) {
    const bool worth = worth_a_mark(factor, profile);
    factor.marked = worth && left > 0;
    profile.more_to_tell |= worth && !factor.marked;
    if (factor.marked) {
      --left;
      const std::vector<const Node*> own = nodes_of(factor, profile.tree);
      nodes.insert(own.begin(), own.end());
    }
  }
  profile.marked_share = share_of(profile.tree, nodes);
}

}  // namespace vprof::analyzer
