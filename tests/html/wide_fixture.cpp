#include "wide_fixture.h"

#include <array>
#include <cmath>
#include <map>
#include <random>

namespace {

using namespace vprof;
using analyzer::Factor;
using analyzer::Node;
using analyzer::NodeKind;

constexpr size_t kNodes = 80'000, kFactors = 5'000, kNames = 6'000, kIntervals = 2'000;
constexpr int kDeepest = 40;

/// Splits a node's time among children, and these further, until there are enough nodes.
class TreeMaker {
 public:
  Node make() {
    Node root;
    root.function = "exec_request";
    root.mean_ns = 20e6;
    root.share = root.contribution = 1;
    root.tail_share = 1;
    root.count = 100'000;
    root.variance_ns2 = 4e13;
    made_ = 1;
    grow(root, kNodes, 0);
    return root;
  }

 private:
  double part() { return std::uniform_real_distribution<>(0, 1)(random_); }

  /// The first child gets most of the nodes, so that the tree is both deep and broad.
  void grow(Node& node, size_t room, int depth) {
    if (room < 2 || depth == kDeepest) {
      return;
    }
    const size_t count = std::min<size_t>(room - 1, 1 + random_() % (depth % 4 == 3 ? 40 : 6));
    const std::vector<double> shares = parts(count), means = parts(count);
    size_t left = room - 1;
    for (size_t i = 0; i < count; ++i) {
      Node child = child_of(node, shares[i], means[i], i, depth);
      const size_t fair = left / (count - i);
      const size_t own = i + 1 == count ? left : 1 + random_() % std::max<size_t>(1, 2 * fair);
      const size_t before = made_;
      if (made_ < kNodes) {
        ++made_;
        grow(child, std::min(own, left), depth + 1);
        node.children.push_back(std::move(child));
      }
      left -= std::min(left, made_ - before);
    }
  }

  /// Random numbers that add up to 1; a few are large.
  std::vector<double> parts(size_t count) {
    std::vector<double> all;
    double sum = 0;
    for (size_t i = 0; i < count; ++i) {
      sum += all.emplace_back(std::pow(part(), 4) + 1e-4);
    }
    for (double& one : all) {
      one /= sum;
    }
    return all;
  }

  Node child_of(const Node& node, double share, double mean, size_t i, int depth) {
    static constexpr std::array kKinds = {NodeKind::kFunction, NodeKind::kFunction,
                                          NodeKind::kFunction, NodeKind::kWait, NodeKind::kQueue};
    Node child;
    child.kind = node.kind == NodeKind::kWait || node.kind == NodeKind::kQueue
                     ? NodeKind::kBlame
                     : kKinds[(i + depth) % kKinds.size()];
    const size_t name = (random_() * 31 + i) % kNames;
    child.function = child.kind == NodeKind::kWait    ? "wait(pthread_mutex_lock)"
                     : child.kind == NodeKind::kQueue ? "queue(pop)"
                                                      : "function_" + std::to_string(name);
    child.location = "src/file_" + std::to_string(name % 400) + ".c:" + std::to_string(name);
    child.mean_ns = node.mean_ns * mean;
    child.share = node.share * share;
    child.tail_share = *node.tail_share * share;
    child.contribution = child.share * (0.8 + 0.4 * part());
    child.variance_ns2 = child.contribution * 4e13;
    child.count = 1 + static_cast<uint64_t>(99'999 * part());
    return child;
  }

  std::mt19937_64 random_{3};
  size_t made_ = 0;
};

/// A factor for each of the functions with the largest shares.
std::vector<Factor> factors_of(const Node& root) {
  std::map<std::string, Factor> by_name;
  struct Open {
    const Node* node;
    std::vector<std::string> path;
  };
  std::vector<Open> open = {{&root, {root.function}}};
  while (!open.empty()) {
    const Open next = std::move(open.back());
    open.pop_back();
    for (const Node& child : next.node->children) {
      std::vector<std::string> path = next.path;
      path.push_back(child.function);
      Factor& factor = by_name[child.function];
      factor.functions = {child.function};
      factor.keys = {""};
      factor.share += child.share;
      factor.contribution += child.contribution;
      factor.height = std::max(factor.height, 40 - static_cast<int>(path.size()));
      factor.instances.push_back(
          {path, child.location, child.contribution, false, child.share, false});
      open.push_back({&child, std::move(path)});
    }
  }
  std::vector<Factor> factors;
  for (auto& [name, factor] : by_name) {
    factors.push_back(std::move(factor));
  }
  std::sort(factors.begin(), factors.end(),
            [](const Factor& a, const Factor& b) { return a.share > b.share; });
  factors.resize(std::min(factors.size(), kFactors));
  for (size_t i = 0; i < factors.size(); ++i) {
    Factor& factor = factors[i];
    std::sort(factor.instances.begin(), factor.instances.end(),
              [](const auto& a, const auto& b) { return a.share > b.share; });
    factor.rank = factor.variance_rank = static_cast<int>(i) + 1;
    factor.weight = factor.tail_share.emplace(factor.share);
    factor.specificity = 100;
    factor.score = factor.variance_score = 100 * factor.weight;
    for (uint64_t n = 0; n < 3; ++n) {
      const uint64_t id = 9'007'199'254'740'993 + 1000 * ((7 * i + n) % kIntervals);
      factor.worst.push_back({id, 0, 1e6, 2e7});
      factor.typical.push_back({id, 0, 1e5, 1e7});
    }
  }
  return factors;
}

std::vector<analyzer::IntervalDetail> intervals() {
  std::mt19937_64 random(5);
  std::lognormal_distribution<> latency(16.8, 0.5);
  std::vector<analyzer::IntervalDetail> all;
  for (uint64_t i = 0; i < kIntervals; ++i) {
    analyzer::IntervalDetail& one = all.emplace_back();
    one.id = 9'007'199'254'740'993 + 1000 * i;
    one.begin_ns = static_cast<int64_t>(i) * 1'000'000;
    one.latency_ns = static_cast<uint64_t>(latency(random));
    for (uint32_t n = 0; n < 1000; ++n) {
      one.times.push_back({n, one.latency_ns / (1 + n)});
    }
  }
  return all;
}

}  // namespace

report::HtmlReport wide_report() {
  report::HtmlReport page;
  page.title = "wide";
  analyzer::Profile& profile = page.profile;
  profile.tree = TreeMaker().make();
  profile.factors = factors_of(profile.tree);
  profile.interval.name = profile.tree.function;
  profile.interval.count = kIntervals;
  profile.interval.mean_ns = profile.interval.p50_ns = profile.tree.mean_ns;
  profile.interval.variance_ns2 = profile.tree.variance_ns2;
  profile.interval.stddev_ns = std::sqrt(profile.tree.variance_ns2);
  profile.interval.p95_ns = profile.interval.p99_ns = profile.interval.max_ns = 6e7;
  analyzer::Details& details = page.details.emplace();
  details.count = kIntervals;
  details.graph_height = 50;
  details.bins = {{1'000'000, 10'000'000, 400}, {10'000'000, 40'000'000, 1600}};
  details.sampled = intervals();
  details.worst.assign(details.sampled.begin(), details.sampled.begin() + 50);
  details.labels.push_back({"", kIntervals, 2e7, 6e6, 2e7, 5e7, 6e7, details.bins});
  std::vector<const Node*> open = {&profile.tree};
  while (!open.empty()) {
    const Node& next = *open.back();
    open.pop_back();
    details.nodes.emplace_back();
    for (const Node& child : next.children) {
      open.push_back(&child);
    }
  }
  return page;
}
