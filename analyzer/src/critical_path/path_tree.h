// The places that time can go to: one node per path from the interval down to a function, body,
// wait or queue.
//
//   request
//    |-- body(request)
//    |-- f
//    |   |-- body(f)
//    |   `-- wait(pthread_mutex_lock)       f waited for a lock
//    |       |-- wake-up(...)               released, not running yet
//    |       `-- g                          what the thread that released the lock did meanwhile
//    |-- queue(pop)                         a task waited to be dequeued
//    |   `-- h                              what the thread that dequeued it did meanwhile
//    `-- parked(f), resumed by g            f left the interval, and g resumed it
//        |-- timer                          it waited for the time to pass
//        `-- h                              the event loop was busy with another interval
//
// A node is made when time is first found there, so a parent's number is smaller than its
// children's.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/sites.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

struct PathNode {
  NodeKind kind = NodeKind::kFunction;
  bool blamed = false;  ///< below a wait, queue or park: what other work did meanwhile
  uint32_t parent = kNone;
  uint32_t ident = 0;  ///< function, or PathTree::name() index; unused in a body
  uint32_t site = 0;   ///< 0: unknown
  uint32_t body = kNone;
  uint32_t rank = 0;      ///< number of older siblings
  uint32_t children = 0;  ///< number of children

  /// kBlame for a function that does the work of others.
  NodeKind shown_kind() const {
    return kind == NodeKind::kFunction && blamed ? NodeKind::kBlame : kind;
  }
};

/// Maps (parent, kind, ident) to a node. Every frame on a path may cost a look-up, so this is one
/// array with open addressing, and inlined.
class ChildTable {
 public:
  ChildTable() : entries_(kFirstSize) {}
  /// The entry of the key; kNone if it is new. Valid until the next call. Needs kind < 16 and ident
  /// < 2^28: there are at most 2^24 sites, and fewer names.
  uint32_t& at(uint32_t parent, uint32_t kind, uint32_t ident) {
    const uint64_t key = (uint64_t{parent} << 32 | kind << 28 | ident) + 1;
    Entry* entry = find(key);
    return entry->key == key ? entry->node : make(key);
  }

 private:
  static constexpr size_t kFirstSize = 256;  // a power of two
  struct Entry {
    uint64_t key = 0;  // 0: free
    uint32_t node = kNone;
  };
  /// The entry of the key, or the free one where it belongs.
  Entry* find(uint64_t key) {
    const uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    size_t at = (hash ^ hash >> 32) & (entries_.size() - 1);
    while (entries_[at].key != key && entries_[at].key != 0) {
      at = (at + 1) & (entries_.size() - 1);
    }
    return &entries_[at];
  }
  uint32_t& make(uint64_t key);

  std::vector<Entry> entries_;
  size_t used_ = 0;
};

class PathTree {
 public:
  explicit PathTree(const Sites& sites);

  static constexpr uint32_t kRoot = 0;
  const std::vector<PathNode>& nodes() const { return nodes_; }
  const std::string& name(uint32_t index) const { return names_[index]; }
  uint32_t intern(const std::string& name);

  /// The node of a frame of `site` directly below `parent`. Recursion folds onto the latest
  /// occurrence of the function on the path, but not across a wait: the waker's work stays apart
  /// from the waiter's. A wrapper calls what it is given: `std::function::operator()` within
  /// another one calls something else. So a library function or a pointer does not fold across a
  /// function of the program, and a function of the program not across what a wrapper called for
  /// the first time on the path. The path stays finite: each repetition needs a function that is
  /// new on it.
  uint32_t frame(uint32_t parent, uint32_t site) {
    const Latest& latest = latest_[parent];  // usually the same as last time
    return latest.site == site ? latest.node : find_frame(parent, site);
  }

  /// The frame directly below a node that was asked for last, and its site.
  struct Latest {
    uint32_t site = kNone;
    uint32_t node = 0;
  };
  /// By node. Valid until the next node is made.
  const Latest* latest_frames() const { return latest_.data(); }

  /// The node of a wait. In a convoy each waker waited for the next one in the same function. Such
  /// a chain folds onto its first wait, so the tree does not grow with the number of threads.
  uint32_t wait(uint32_t parent, uint32_t name);
  uint32_t queue(uint32_t parent, uint32_t name) { return child(parent, NodeKind::kQueue, name); }
  uint32_t parked(uint32_t parent, uint32_t name) { return child(parent, NodeKind::kParked, name); }
  uint32_t preempted(uint32_t parent, uint32_t name) {
    return child(parent, NodeKind::kPreempted, name);
  }
  uint32_t untracked(uint32_t parent, uint32_t name) {
    return child(parent, NodeKind::kUntracked, name);
  }

  /// The node for time of `node` that is in none of its children.
  uint32_t body(uint32_t node) {
    return nodes_[node].body != kNone ? nodes_[node].body : make_body(node);
  }

 private:
  /// A key beside NodeKind: frames are looked up by site, not by function.
  static constexpr uint32_t kFrame = 15;

  uint32_t find_frame(uint32_t parent, uint32_t site);
  uint32_t make_frame(uint32_t parent, uint32_t site);
  /// Defined there, and not just a name for what it calls.
  bool is_of_program(uint32_t function) const;
  bool is_called_by_wrapper(uint32_t node) const;
  bool is_new_between(uint32_t first, uint32_t last) const;
  bool is_on_path(uint32_t function, uint32_t last) const;
  uint32_t make_body(uint32_t node);
  uint32_t child(uint32_t parent, NodeKind kind, uint32_t ident);
  uint32_t add(uint32_t parent, NodeKind kind, uint32_t ident, uint32_t site);
  uint32_t enclosing_function(uint32_t node) const;

  const Sites& sites_;
  std::vector<PathNode> nodes_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, uint32_t> name_index_;
  ChildTable children_;         // folded children, too
  std::vector<Latest> latest_;  // by node
};

}  // namespace vprof::analyzer
