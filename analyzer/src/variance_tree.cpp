#include "variance_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace vprof::analyzer {
namespace {

class Maker {
 public:
  Maker(const PathTree& tree, const Sites& sites, const BatchSums& total,
        const std::string& root_name)
      : tree_(tree), sites_(sites), total_(total), root_name_(root_name) {
    const NodeSums root = total.node(PathTree::kRoot);
    latency_variance_ = variance(total.n, root.x, root.xx);
    mean_latency_ = static_cast<long double>(root.x) / total.n;
    if (total.tail_n != 0)
      tail_excess_ = static_cast<long double>(root.tail) / total.tail_n - mean_latency_;
  }

  VarianceTree run() {
    find_children();
    add(PathTree::kRoot, kNone);
    for (uint32_t i = 0; i < result_.nodes.size(); ++i) {  // grows as it goes: breadth first
      for (const uint32_t child : children_[result_.nodes[i].path_node]) {
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

  void find_children() {
    const auto& nodes = tree_.nodes();
    children_.resize(nodes.size());
    for (uint32_t i = 1; i < nodes.size(); ++i) {
      if (total_.node(i).count != 0) children_[nodes[i].parent].push_back(i);
    }
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      if (children_[i].size() == 1 && children_[i][0] == nodes[i].body) children_[i].clear();
    }
  }

  void add(uint32_t path_node, uint32_t parent) {
    TreeNode node;
    node.parent = parent;
    node.path_node = path_node;
    describe(node);
    const NodeSums sums = total_.node(path_node);
    const NodeSums root = total_.node(PathTree::kRoot);
    const long double mean = static_cast<long double>(sums.x) / total_.n;
    const long double var = variance(total_.n, sums.x, sums.xx);
    node.mean_ns = static_cast<double>(mean);
    node.variance_ns2 = static_cast<double>(var);
    node.contribution = part_of(var);
    node.share = part_of(covariance(total_.n, sums.x, root.x, sums.xt));
    if (tail_excess_ > 0) {
      const long double tail_mean = static_cast<long double>(sums.tail) / total_.tail_n;
      node.tail_share = static_cast<double>((tail_mean - mean) / tail_excess_);
    }
    node.count = sums.count;
    result_.nodes.push_back(std::move(node));
  }

  void describe(TreeNode& node) const {
    const PathNode& path = tree_.nodes()[node.path_node];
    node.kind = path.kind;
    if (node.path_node == PathTree::kRoot) {
      node.name = node.factor = root_name_;
      node.height = sites_.root_height;
    } else if (path.kind == NodeKind::kFunction) {
      if (path.blamed) node.kind = NodeKind::kBlame;
      const Function& function = sites_.functions[path.ident];
      node.name = function.name;
      node.key = node.factor = function.key;
      node.site = sites_.sites[path.site].place;
      node.height = function.height;
      node.expandable = function.expandable;
      node.expanded = function.expanded;
      if (!function.file.empty())
        node.definition = fmt::format("{}:{}", function.file, function.line);
    } else if (path.kind == NodeKind::kBody) {
      const TreeNode& owner = result_.nodes[node.parent];
      node.name = fmt::format("body({})", owner.name);
      node.factor = fmt::format("body({})", owner.factor);
      node.site = node.definition = owner.definition;
    } else {
      node.name = node.factor = tree_.name(path.ident);
    }
  }

  void sort_children(uint32_t parent) {
    // Children were just added at the end, one after the other: sort the nodes themselves.
    const std::vector<uint32_t>& children = result_.nodes[parent].children;
    if (children.empty()) return;
    const auto first = result_.nodes.begin() + children.front();
    std::sort(first, result_.nodes.end(), [](const TreeNode& a, const TreeNode& b) {
      return std::tie(b.variance_ns2, a.name, a.site, a.path_node) <
             std::tie(a.variance_ns2, b.name, b.site, b.path_node);
    });
  }

  void add_pairs() {
    for (const TreeNode& parent : result_.nodes) {
      const std::vector<uint32_t>& children = parent.children;
      for (size_t i = 0; i < children.size(); ++i) {
        for (size_t j = i + 1; j < children.size(); ++j) add_pair(children[i], children[j]);
      }
    }
  }

  /// Pairs that never had time in one interval have a covariance, too: -mean(a) mean(b).
  void add_pair(uint32_t i, uint32_t j) {
    const TreeNode& a = result_.nodes[i];
    const TreeNode& b = result_.nodes[j];
    const UInt128 xy =
        total_.pair(std::min(a.path_node, b.path_node), std::max(a.path_node, b.path_node));
    const long double cov =
        covariance(total_.n, total_.node(a.path_node).x, total_.node(b.path_node).x, xy);
    if (cov == 0) return;
    result_.pairs.push_back({a.parent, i, j, static_cast<double>(cov), part_of(2 * cov)});
  }

  const PathTree& tree_;
  const Sites& sites_;
  const BatchSums& total_;
  const std::string& root_name_;
  long double latency_variance_ = 0;
  long double mean_latency_ = 0;
  long double tail_excess_ = 0;
  std::vector<std::vector<uint32_t>> children_;  // by path node
  VarianceTree result_;
};

}  // namespace

VarianceTree make_variance_tree(const PathTree& tree, const Sites& sites, const BatchSums& total,
                                const std::string& root_name) {
  return Maker(tree, sites, total, root_name).run();
}

Node to_public(const VarianceTree& tree) {
  std::vector<Node> made(tree.nodes.size());
  std::vector<uint32_t> place(tree.nodes.size());  // among its siblings
  for (const TreeNode& node : tree.nodes) {
    for (uint32_t c = 0; c < node.children.size(); ++c) place[node.children[c]] = c;
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
    to.count = from.count;
    for (const uint32_t child : from.children) to.children.push_back(std::move(made[child]));
  }
  return std::move(made.front());
}

}  // namespace vprof::analyzer
