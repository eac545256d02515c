#include "analysis/node_times.h"

#include <utility>

namespace vprof::analyzer {

const std::vector<NodeTimes::Time>& NodeTimes::add_up(const std::vector<LeafTime>& leaves,
                                                      const PathTree& tree) {
  const std::vector<PathNode>& nodes = tree.nodes();
  times_.clear();
  if (entry_.size() < nodes.size()) {
    entry_.resize(nodes.size(), 0);
    first_child_.resize(nodes.size(), kNone);
  }
  chains_.clear();
  for (const LeafTime& leaf : leaves) {
    const auto begin = static_cast<uint32_t>(times_.size());
    uint64_t ns = static_cast<uint64_t>(leaf.ns);
    uint32_t node = leaf.node;
    for (; node != kNone && entry_[node] == 0; node = nodes[node].parent) {
      const auto index = static_cast<uint32_t>(times_.size());
      const uint32_t parent = nodes[node].parent;
      const uint32_t sibling = parent == kNone ? kNone : std::exchange(first_child_[parent], index);
      times_.push_back({node, sibling, std::exchange(ns, 0)});
      entry_[node] = index + 1;
    }
    chains_.push_back({begin, node == kNone ? kNone : entry_[node] - 1});
  }
  // From the last chain to the first: a chain only adds to earlier ones, so each is complete when
  // it is added up.
  for (auto end = static_cast<uint32_t>(times_.size()); !chains_.empty(); chains_.pop_back()) {
    const auto [begin, into] = chains_.back();
    uint64_t ns = 0;
    for (uint32_t i = begin; i < end; ++i) {
      ns = times_[i].ns += ns;
    }
    if (into != kNone) {
      times_[into].ns += ns;
    }
    end = begin;
  }
  for (const Time& time : times_) {
    entry_[time.node] = 0;
    first_child_[time.node] = kNone;
  }
  return times_;
}

}  // namespace vprof::analyzer
