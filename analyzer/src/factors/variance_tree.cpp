#include "factors/variance_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace vprof::analyzer {
namespace {

constexpr double kTail = 0.99;  // the slowest 1 %

/// As the only child: it is all that its parent is.
bool says_nothing(const Place& place) {
  return place.kind == NodeKind::kBody || place.name == kUnknownWaker;
}

class Maker {
 public:
  explicit Maker(const Account& account)
      : account_(account),
        total_(account.total()),
        tail_(account.latencies.tail(kTail)),
        explained_(account.explain, account.labels, total_) {
    const NodeSums root = total_.node(0);
    latency_variance_ = variance(total_.n, root.x, root.xx);
    tail_excess_ = tail_mean(0) - mean(0);
  }

  VarianceTree run() {
    find_children();
    add(0, kNoPlace);
    for (uint32_t i = 0; i < result_.nodes.size(); ++i) {  // grows as it goes: breadth first
      for (const uint32_t child : children_[result_.nodes[i].place]) {
        result_.nodes[i].children.push_back(static_cast<uint32_t>(result_.nodes.size()));
        add(child, i);
      }
      sort_children(i);
    }
    add_pairs();
    return std::move(result_);
  }

 private:
  double part_of(long double value) const {
    return latency_variance_ > 0 ? static_cast<double>(value / latency_variance_) : 0;
  }

  long double mean(uint32_t place) const {
    return static_cast<long double>(total_.node(place).x) / total_.n;
  }

  long double tail_mean(uint32_t place) const {
    if (tail_.count == 0 || place >= account_.tails.size()) {
      return 0;
    }
    const TailSums& sums = account_.tails[place];
    long double x = 0;
    const auto end = sums.first + static_cast<uint32_t>(sums.x.size());
    for (uint32_t bin = tail_.first_whole; bin < end; ++bin) {
      x += sums.at(bin);
    }
    if (tail_.partial > 0) {
      x += tail_.partial * static_cast<long double>(sums.at(tail_.first_whole - 1));
    }
    return x / static_cast<long double>(tail_.count);
  }

  void find_children() {
    children_ = children_of(account_.places);
    for (std::vector<uint32_t>& children : children_) {
      std::erase_if(children, [&](uint32_t place) { return total_.node(place).count == 0; });
      if (children.size() == 1 && says_nothing(account_.places[children[0]])) {
        children.clear();
      }
    }
  }

  void add(uint32_t place, uint32_t parent) {
    TreeNode node;
    node.parent = parent;
    node.place = place;
    node.rank = account_.places[place].rank;
    describe(node);
    const NodeSums sums = total_.node(place);
    const long double var = variance(total_.n, sums.x, sums.xx);
    node.mean_ns = static_cast<double>(mean(place));
    node.variance_ns2 = static_cast<double>(var);
    node.contribution = part_of(var);
    node.share = part_of(covariance(total_.n, sums.x, total_.node(0).x, sums.xt));
    if (tail_excess_ > 0) {
      node.tail_share = static_cast<double>((tail_mean(place) - mean(place)) / tail_excess_);
    }
    node.work_share = explained_.by_work(place);
    node.label_share = explained_.by_label(place);
    node.count = sums.count;
    result_.nodes.push_back(std::move(node));
  }

  void describe(TreeNode& node) const {
    const Place& place = account_.places[node.place];
    node.kind = place.kind;
    if (node.place == 0) {
      node.name = node.factor = account_.interval;
      node.height = account_.root_height;
    } else if (place.kind == NodeKind::kFunction) {
      if (place.blamed) {
        node.kind = NodeKind::kBlame;
      }
      node.name = place.name;
      node.key = node.factor = place.key;
      node.site = place.site;
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

  /// The own time of a function; of a wait, what passed from the wake-up until it ran again.
  void describe_body(TreeNode& node) const {
    const TreeNode& owner = result_.nodes[node.parent];
    if (owner.kind == NodeKind::kWait) {
      const std::string waited = owner.name.substr(owner.name.find('('));
      node.name = node.factor = "wake-up" + waited;
      return;
    }
    node.name = fmt::format("body({})", owner.name);
    node.factor = fmt::format("body({})", owner.factor);
    node.site = node.definition = owner.definition;
  }

  void sort_children(uint32_t parent) {
    // Children were just added at the end, one after the other: sort the nodes themselves.
    const std::vector<uint32_t>& children = result_.nodes[parent].children;
    if (children.empty()) {
      return;
    }
    const auto first = result_.nodes.begin() + children.front();
    std::sort(first, result_.nodes.end(), [](const TreeNode& a, const TreeNode& b) {
      return std::tie(b.variance_ns2, a.name, a.site, a.place) <
             std::tie(a.variance_ns2, b.name, b.site, b.place);
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

  /// Pairs that never had time in one interval have a covariance, too: -mean(a) mean(b).
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
    result_.pairs.push_back({a.parent, i, j, static_cast<double>(cov), part_of(2 * cov)});
  }

  const Account& account_;
  const BatchSums total_;
  const Histogram::Tail tail_;
  const Explained explained_;
  long double latency_variance_ = 0;
  long double tail_excess_ = 0;
  std::vector<std::vector<uint32_t>> children_;  // by place
  VarianceTree result_;
};

}  // namespace

VarianceTree make_variance_tree(const Account& account) { return Maker(account).run(); }

Node to_public(const VarianceTree& tree) {
  std::vector<Node> made(tree.nodes.size());
  std::vector<uint32_t> place(tree.nodes.size());  // among its siblings
  for (const TreeNode& node : tree.nodes) {
    for (uint32_t c = 0; c < node.children.size(); ++c) {
      place[node.children[c]] = c;
    }
  }
  for (const TreePair& pair : tree.pairs) {
    made[pair.parent].covariances.push_back(
        {place[pair.a], place[pair.b], pair.covariance_ns2, pair.contribution});
  }
  for (size_t i = tree.nodes.size(); i-- > 0;) {  // children stand after their parents
    const TreeNode& from = tree.nodes[i];
    Node& to = made[i];
    to.kind = from.kind;
    to.function = from.name;
    to.function_key = from.key;
    to.site = from.site;
    to.mean_ns = from.mean_ns;
    to.variance_ns2 = from.variance_ns2;
    to.contribution = from.contribution;
    to.share = from.share;
    to.tail_share = from.tail_share;
    to.work_share = from.work_share;
    to.label_share = from.label_share;
    to.count = from.count;
    for (const uint32_t child : from.children) {
      to.children.push_back(std::move(made[child]));
    }
  }
  return std::move(made.front());
}

}  // namespace vprof::analyzer
