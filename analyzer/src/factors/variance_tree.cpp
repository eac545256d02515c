#include "factors/variance_tree.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "factors/tail_shares.h"

namespace vprof::analyzer {
namespace {

/// Whether the place, as an only child, is the same as its parent.
bool repeats_parent(const Place& place) {
  return place.kind == NodeKind::kBody || place.name == kUnknownWaker;
}

class VarianceTreeBuilder {
 public:
  explicit VarianceTreeBuilder(const IntervalSums& sums)
      : sums_(sums),
        total_(sums.total()),
        tail_(sums, total_),
        explained_(sums.covariates, sums.labels, total_) {
    const NodeSums root = total_.node(0);
    latency_variance_ = variance(total_.n, root.x, root.xx);
  }

  VarianceTree build() {
    find_children();
    add(0, kNoPlace);
    for (uint32_t i = 0; i < result_.nodes.size(); ++i) {  // grows on the way: breadth first
      for (const uint32_t child : children_[result_.nodes[i].place]) {
        result_.nodes[i].children.push_back(static_cast<uint32_t>(result_.nodes.size()));
        add(child, i);
      }
      sort_children(i);
    }
    add_repeated();
    add_others();
    add_pairs();
    raise_heights();
    return std::move(result_);
  }

 private:
  /// As a fraction of the variance of the latency.
  double fraction(long double value) const {
    return latency_variance_ > 0 ? static_cast<double>(value / latency_variance_) : 0;
  }

  long double mean(uint32_t place) const {
    return static_cast<long double>(total_.node(place).x) / total_.n;
  }

  void find_children() {
    children_ = children_of(sums_.places);
    for (std::vector<uint32_t>& children : children_) {
      std::erase_if(children, [&](uint32_t place) { return total_.node(place).count == 0; });
      if (children.size() == 1 && repeats_parent(sums_.places[children[0]])) {
        repeated_.push_back(children[0]);
        children.clear();
      }
    }
  }

  void add_repeated() {
    std::map<uint32_t, uint32_t> node_of;  // place
    for (uint32_t i = 0; i < result_.nodes.size(); ++i) {
      node_of[result_.nodes[i].place] = i;
    }
    for (const uint32_t place : repeated_) {
      const auto owner = node_of.find(sums_.places[place].parent);
      if (owner == node_of.end()) {
        continue;
      }
      const TreeNode& node = result_.nodes[owner->second];
      const Place& own = sums_.places[place];
      result_.repeated.push_back(
          {place, owner->second,
           own.kind == NodeKind::kBody ? body_name(node.kind, node.factor) : own.name,
           own.kind == NodeKind::kBody ? body_name(node.kind, node.name) : own.name});
    }
  }

  /// The time of a function is one variable, so the covariances of its instances are part of its
  /// variance.
  void add_others() {
    std::map<std::string, UInt128> all;  // Σx by factor, over outermost instances
    for (TreeNode& node : result_.nodes) {
      for (uint32_t above = node.parent; above != kNoPlace && node.outermost;
           above = result_.nodes[above].parent) {
        node.outermost = result_.nodes[above].factor != node.factor;
      }
      if (node.outermost) {
        all[node.factor] += total_.node(node.place).x;
      }
    }
    for (const RepeatedPlace& repeated : result_.repeated) {
      const auto known = all.find(repeated.factor);
      if (known != all.end()) {
        known->second += total_.node(repeated.place).x;
      }
    }
    for (TreeNode& node : result_.nodes) {
      const UInt128 x = total_.node(node.place).x;
      if (node.outermost && sums_.others_known) {
        node.with_others =
            fraction(covariance(total_.n, x, all[node.factor] - x, total_.with_others(node.place)));
      }
    }
  }

  void add(uint32_t place, uint32_t parent) {
    TreeNode node;
    node.parent = parent;
    node.place = place;
    node.rank = sums_.places[place].rank;
    describe(node);
    const NodeSums sums = total_.node(place);
    const long double var = variance(total_.n, sums.x, sums.xx);
    node.mean_ns = static_cast<double>(mean(place));
    node.variance_ns2 = static_cast<double>(var);
    node.contribution = fraction(var);
    node.share = fraction(covariance(total_.n, sums.x, total_.node(0).x, sums.xt));
    node.tail_known = tail_.known();
    node.tail_share = tail_.of(place);
    node.work_share = explained_.by_work(place);
    node.label_share = explained_.by_label(place);
    node.count = sums.count;
    result_.nodes.push_back(std::move(node));
  }

  void describe(TreeNode& node) const {
    const Place& place = sums_.places[node.place];
    node.kind = place.kind;
    if (node.place == 0) {
      node.name = node.factor = sums_.interval;
      node.height = sums_.root_height;
    } else if (place.kind == NodeKind::kFunction) {
      if (place.blamed) {
        node.kind = NodeKind::kBlame;
      }
      node.name = place.name;
      node.key = node.factor = place.key;
      node.location = place.location;
      node.height = place.height;
      node.expandable = place.expandable;
      node.expanded = place.expanded;
      node.definition = place.definition;
    } else if (place.kind == NodeKind::kBody) {
      describe_body(node);
    } else {
      node.name = node.factor = place.name;
    }
  }

  /// The body of a function is the time in none of its children. The body of a wait is the time
  /// from the release until the thread ran again.
  void describe_body(TreeNode& node) const {
    const TreeNode& owner = result_.nodes[node.parent];
    node.name = body_name(owner.kind, owner.name);
    node.factor = body_name(owner.kind, owner.factor);
    node.definition = owner.definition;
    // A macro is defined in one place, but is part of the function that it is used in. A library
    // function has no other place than its call.
    const bool has_text = !owner.key.ends_with('@');
    node.location = has_text ? owner.definition : owner.location;
  }

  void sort_children(uint32_t parent) {
    // The children are the nodes added last, so the nodes themselves are sorted.
    const std::vector<uint32_t>& children = result_.nodes[parent].children;
    if (children.empty()) {
      return;
    }
    const auto first = result_.nodes.begin() + children.front();
    std::sort(first, result_.nodes.end(), [](const TreeNode& a, const TreeNode& b) {
      return std::tie(b.variance_ns2, a.name, a.location, a.place) <
             std::tie(a.variance_ns2, b.name, b.location, b.place);
    });
  }

  void add_pairs() {
    for (const TreeNode& parent : result_.nodes) {
      const std::vector<uint32_t>& children = parent.children;
      for (size_t i = 0; i < children.size(); ++i) {
        for (size_t j = i + 1; j < children.size(); ++j) {
          add_pair(children[i], children[j]);
        }
      }
    }
  }

  /// The call graph may not know what a function calls, such as one of a library: it is at least 1
  /// higher than what was seen below it. The work below a wait is that of others.
  void raise_heights() {
    const auto is_function = [](const TreeNode& node) {
      return node.kind == NodeKind::kFunction || node.kind == NodeKind::kBlame;
    };
    for (size_t i = result_.nodes.size(); i-- > 1;) {  // children before their parents
      TreeNode& parent = result_.nodes[result_.nodes[i].parent];
      if (is_function(result_.nodes[i]) && is_function(parent)) {
        parent.height = std::max(parent.height, result_.nodes[i].height + 1);
      }
    }
  }

  /// Siblings that never had time in the same interval have a covariance too: -mean(a) mean(b).
  void add_pair(uint32_t i, uint32_t j) {
    const TreeNode& a = result_.nodes[i];
    const TreeNode& b = result_.nodes[j];
    const UInt128 xy =
        a.rank < b.rank ? total_.product(b.place, a.rank) : total_.product(a.place, b.rank);
    const long double cov =
        covariance(total_.n, total_.node(a.place).x, total_.node(b.place).x, xy);
    if (cov == 0) {
      return;
    }
    result_.pairs.push_back({a.parent, i, j, static_cast<double>(cov), fraction(2 * cov)});
  }

  const IntervalSums& sums_;
  const BatchSums total_;
  const TailShares tail_;
  const ExplainedShare explained_;
  long double latency_variance_ = 0;
  std::vector<std::vector<uint32_t>> children_;  // by place
  std::vector<uint32_t> repeated_;               // places
  VarianceTree result_;
};

}  // namespace

VarianceTree build_variance_tree(const IntervalSums& sums) {
  return VarianceTreeBuilder(sums).build();
}

Node nested_tree(const VarianceTree& tree) {
  std::vector<Node> nested(tree.nodes.size());
  std::vector<uint32_t> child_index(tree.nodes.size());  // among its siblings
  for (const TreeNode& node : tree.nodes) {
    for (uint32_t c = 0; c < node.children.size(); ++c) {
      child_index[node.children[c]] = c;
    }
  }
  for (const TreePair& pair : tree.pairs) {
    nested[pair.parent].covariances.push_back(
        {child_index[pair.a], child_index[pair.b], pair.covariance_ns2, pair.contribution});
  }
  for (size_t i = tree.nodes.size(); i-- > 0;) {  // children before their parents
    const TreeNode& from = tree.nodes[i];
    Node& to = nested[i];
    to.kind = from.kind;
    to.function = from.name;
    to.function_key = from.key;
    to.location = from.location;
    to.mean_ns = from.mean_ns;
    to.variance_ns2 = from.variance_ns2;
    to.contribution = from.contribution;
    to.share = from.share;
    if (from.tail_known) {
      to.tail_share = from.tail_share;
    }
    to.work_share = from.work_share;
    to.label_share = from.label_share;
    to.count = from.count;
    for (const uint32_t child : from.children) {
      to.children.push_back(std::move(nested[child]));
    }
  }
  return std::move(nested.front());
}

}  // namespace vprof::analyzer
