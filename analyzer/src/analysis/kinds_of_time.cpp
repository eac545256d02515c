#include "analysis/kinds_of_time.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "critical_path/node_names.h"

namespace vprof::analyzer {
namespace {

/// Names of waits of coroutines begin with it.
constexpr std::string_view kSuspended = "co_await";

class KindFinder {
 public:
  explicit KindFinder(const VarianceTree& tree) : tree_(tree) {}

  /// Nodes by kind, none within another.
  std::array<std::vector<uint32_t>, kTimeKinds.size()> find() {
    visit(0);
    return std::move(nodes_);
  }

 private:
  void add(TimeKind kind, uint32_t node) { nodes_[static_cast<size_t>(kind)].push_back(node); }

  void visit(uint32_t index) {
    const TreeNode& node = tree_.nodes[index];
    switch (node.kind) {
      case NodeKind::kFunction:
      case NodeKind::kBlame:
        if (node.children.empty()) {
          add(TimeKind::kRunning, index);
        }
        for (const uint32_t child : node.children) {
          visit(child);
        }
        break;
      case NodeKind::kBody:
        add(TimeKind::kRunning, index);
        break;
      case NodeKind::kPreempted:
        add(TimeKind::kPreempted, index);
        break;
      case NodeKind::kUntracked:
        add(TimeKind::kUntracked, index);
        break;
      case NodeKind::kQueue:
        add(TimeKind::kQueue, index);
        break;
      case NodeKind::kWait:
        if (node.name.starts_with(kSuspended)) {
          visit_events(index, TimeKind::kSynchronization);
        } else {
          add(kind_of_wait(within(node.name)), index);
        }
        break;
      case NodeKind::kParked:
        visit_events(index, TimeKind::kQueue);
        break;
    }
  }

  /// Of an interval that its thread has left, and of a coroutine that is suspended: an event, and
  /// `rest`, which is what threads did for others.
  void visit_events(uint32_t index, TimeKind rest) {
    const TreeNode& node = tree_.nodes[index];
    if (node.children.empty()) {
      add(rest, index);
    }
    for (const uint32_t child : node.children) {
      const TreeNode& what = tree_.nodes[child];
      const std::string_view name =
          what.kind == NodeKind::kWait ? within(what.name) : std::string_view(what.name);
      if (what.kind != NodeKind::kWait && what.kind != NodeKind::kUntracked) {
        add(rest, child);
      } else if (name == kTimer) {
        add(TimeKind::kSleep, child);
      } else {
        add(name == kReadiness || name == kUnknownEvent ? TimeKind::kIo : rest, child);
      }
    }
  }

  /// What stands between the parentheses.
  static std::string_view within(const std::string& name) {
    const size_t open = name.find('(');
    return open == std::string::npos
               ? std::string_view(name)
               : std::string_view(name).substr(open + 1, name.size() - open - 2);
  }

  const VarianceTree& tree_;
  std::array<std::vector<uint32_t>, kTimeKinds.size()> nodes_;
};

}  // namespace

std::vector<KindOfTime> kinds_of_time(const VarianceTree& tree, const Jackknife& jackknife) {
  std::vector<KindOfTime> kinds;
  const auto nodes = KindFinder(tree).find();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].empty()) {
      continue;
    }
    KindOfTime& kind = kinds.emplace_back();
    kind.kind = static_cast<TimeKind>(i);
    std::vector<uint32_t> places;
    for (const uint32_t node : nodes[i]) {
      kind.mean_ns += tree.nodes[node].mean_ns;
      kind.share += tree.nodes[node].share;
      places.push_back(tree.nodes[node].place);
    }
    const FactorEstimate estimate = jackknife.of_places(places, 0, kind.share, {});
    kind.share_ci95 = estimate.share.ci95;
    kind.share_error_ns2 = estimate.covariance.error;
    kind.degrees = estimate.covariance.degrees;
  }
  std::stable_sort(kinds.begin(), kinds.end(),
                   [](const KindOfTime& a, const KindOfTime& b) { return a.share > b.share; });
  return kinds;
}

}  // namespace vprof::analyzer
