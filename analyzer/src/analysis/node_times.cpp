#include "analysis/node_times.h"

#include <utility>

namespace vprof::analyzer {

std::span<const NodeTimes::Time> NodeTimes::add_up(const std::vector<LeafTime>& leaves,
                                                   const PathTree& tree) {
  const std::vector<PathNode>& nodes = tree.nodes();
  if (entries_.size() < nodes.size()) {
    entries_.resize(2 * nodes.size());
    times_.resize(entries_.size());
  }
  if (chains_.size() < leaves.size()) {
    chains_.resize(2 * leaves.size());
  }
  Entry* const entries = entries_.data();
  Time* const times = times_.data();
  Chain* chain = chains_.data();
  uint32_t count = 0;
  for (const LeafTime& leaf : leaves) {
    const uint32_t begin = count;
    uint64_t ns = static_cast<uint64_t>(leaf.ns);
    uint32_t node = leaf.node;
    for (; node != kNone && entries[node].time == kNone; ++count) {
      const uint32_t parent = nodes[node].parent;
      const uint32_t sibling =
          parent == kNone ? kNone : std::exchange(entries[parent].first_child, count);
      times[count] = {node, sibling, std::exchange(ns, 0)};
      entries[node].time = count;
      node = parent;
    }
    *chain++ = {begin, node == kNone ? kNone : entries[node].time};
  }
  // From the last chain to the first: a chain only adds to earlier ones, so each is complete when
  // it is added up.
  for (uint32_t end = count; chain != chains_.data();) {
    const auto [begin, into] = *--chain;
    uint64_t ns = 0;
    for (uint32_t i = begin; i < end; ++i) {
      ns = times[i].ns += ns;
      entries[times[i].node] = {};
    }
    if (into != kNone) {
      times[into].ns += ns;
    }
    end = begin;
  }
  return {times, count};
}

}  // namespace vprof::analyzer
