// The places that time can be in: one node per path from the interval down to a function, body,
// wait, queue.
//
// Nodes are made when time is first found there, so a parent's number is always smaller than its
// child's.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "sites.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

struct PathNode {
  NodeKind kind = NodeKind::kFunction;
  bool blamed = false;  ///< below a wait or queue: what another thread did
  uint32_t parent = kNone;
  uint32_t ident = 0;  ///< function, or index into names; of a body: unused
  uint32_t site = 0;   ///< where known, else 0
  uint32_t body = kNone;
  uint32_t rank = 0;      ///< how many siblings were there before it
  uint32_t children = 0;  ///< how many it has
};

class PathTree {
 public:
  explicit PathTree(const Sites& sites);

  static constexpr uint32_t kRoot = 0;
  const std::vector<PathNode>& nodes() const { return nodes_; }
  const std::string& name(uint32_t index) const { return names_[index]; }
  uint32_t intern(const std::string& name);

  /// The node of a frame of `site` directly below `parent`. Recursion folds onto the first
  /// occurrence of the function on the path, but not across a wait: what the waker did stays apart
  /// from what the waiter did.
  uint32_t frame(uint32_t parent, uint32_t site);

  /// A wait. In a convoy each waker itself waited for the next, in the same function: such a chain
  /// folds onto its first wait, so that the tree does not grow with the number of threads.
  uint32_t wait(uint32_t parent, uint32_t name);
  uint32_t queue(uint32_t parent, uint32_t name) { return child(parent, NodeKind::kQueue, name); }
  uint32_t untracked(uint32_t parent, uint32_t name) {
    return child(parent, NodeKind::kUntracked, name);
  }

  /// The own time of a node: what none of its children explains.
  uint32_t body(uint32_t node);

 private:
  uint32_t child(uint32_t parent, NodeKind kind, uint32_t ident);
  uint32_t add(uint32_t parent, NodeKind kind, uint32_t ident, uint32_t site);
  uint32_t enclosing_function(uint32_t node) const;

  struct Key {
    uint32_t parent, kind, ident;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      uint64_t h = ((static_cast<uint64_t>(key.parent) << 32) | key.ident) + key.kind;
      h *= 0x9e3779b97f4a7c15ull;
      return static_cast<size_t>(h ^ (h >> 29));
    }
  };

  const Sites& sites_;
  std::vector<PathNode> nodes_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> name_index_;
  std::unordered_map<Key, uint32_t, Hash> children_;  // also holds what folds
};

}  // namespace vprof::analyzer
