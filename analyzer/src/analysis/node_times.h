// From the times of the leaves of one interval to those of all nodes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "critical_path/critical_path.h"
#include "critical_path/path_tree.h"

namespace vprof::analyzer {

/// Adds up the tree from its leaves, touching only nodes that have time. Keeps its memory from one
/// interval to the next. One thread at a time.
class NodeTimes {
 public:
  struct Time {
    uint32_t node;
    uint32_t sibling;  ///< index of another entry with the same parent; kNone: the last of them
    uint64_t ns;       ///< of the node and everything below it
  };
  /// One entry for each node on a path from a leaf to the root. Valid until the next call.
  std::span<const Time> add_up(const std::vector<LeafTime>& leaves, const PathTree& tree);

 private:
  /// The times that one leaf added: from the leaf up to, but without, the first node that already
  /// had one.
  struct Chain {
    uint32_t begin;  // index into times_; the chain ends where the next one begins
    uint32_t into;   // index into times_ of that node; kNone: the chain ends with the root
  };
  struct Entry {
    uint32_t time = kNone;         // index into times_
    uint32_t first_child = kNone;  // likewise
  };

  // All longer than needed.
  std::vector<Time> times_;
  std::vector<Chain> chains_;
  std::vector<Entry> entries_;  // by node
};

}  // namespace vprof::analyzer
