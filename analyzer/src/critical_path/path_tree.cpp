#include "critical_path/path_tree.h"

#include <utility>

namespace vprof::analyzer {
namespace {

bool starts_blame(NodeKind kind) {
  return kind == NodeKind::kWait || kind == NodeKind::kQueue || kind == NodeKind::kParked;
}

}  // namespace

uint32_t& ChildTable::make(uint64_t key) {
  if (2 * ++used_ > entries_.size()) {
    const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
    for (const Entry& entry : old) {
      if (entry.key != 0) {
        *find(entry.key) = entry;
      }
    }
  }
  Entry* entry = find(key);
  entry->key = key;
  return entry->node;
}

PathTree::PathTree(const Sites& sites) : sites_(sites), nodes_(1), latest_(1) {}

uint32_t PathTree::intern(const std::string& name) {
  const auto [entry, is_new] = name_index_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) {
    names_.push_back(name);
  }
  return entry->second;
}

uint32_t PathTree::add(uint32_t parent, NodeKind kind, uint32_t ident, uint32_t site) {
  PathNode node;
  node.kind = kind;
  node.blamed = nodes_[parent].blamed || starts_blame(nodes_[parent].kind);
  node.parent = parent;
  node.ident = ident;
  node.site = site;
  node.rank = nodes_[parent].children++;
  nodes_.push_back(node);
  latest_.emplace_back();
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t PathTree::child(uint32_t parent, NodeKind kind, uint32_t ident) {
  uint32_t& entry = children_.at(parent, static_cast<uint32_t>(kind), ident);
  if (entry == kNone) {
    entry = add(parent, kind, ident, 0);
  }
  return entry;
}

uint32_t PathTree::find_frame(uint32_t parent, uint32_t site) {
  uint32_t& entry = children_.at(parent, kFrame, site);
  if (entry == kNone) {
    entry = make_frame(parent, site);
  }
  latest_[parent] = {site, entry};
  return entry;
}

uint32_t PathTree::make_frame(uint32_t parent, uint32_t site) {
  const uint32_t function = sites_.sites[site].function;
  const bool of_program = is_of_program(function);
  for (uint32_t node = parent; node != kRoot && !starts_blame(nodes_[node].kind);
       node = nodes_[node].parent) {
    if (nodes_[node].kind != NodeKind::kFunction) {
      continue;
    }
    if (nodes_[node].ident == function) {
      if (of_program && is_new_between(node, parent)) {
        break;
      }
      return node;
    }
    if (!of_program && is_of_program(nodes_[node].ident)) {
      break;
    }
  }
  return add(parent, NodeKind::kFunction, function, site);
}

/// Whether between the two nodes a wrapper called a function that is not on the path up to the
/// first one: folding onto that would take the function off the path.
bool PathTree::is_new_between(uint32_t first, uint32_t last) const {
  for (uint32_t node = last; node != first; node = nodes_[node].parent) {
    if (is_called_by_wrapper(node) && !is_on_path(nodes_[node].ident, first)) {
      return true;
    }
  }
  return false;
}

/// A measured call of the wrapper's own is not what it was given.
bool PathTree::is_called_by_wrapper(uint32_t node) const {
  const uint32_t caller = enclosing_function(nodes_[node].parent);
  if (caller == kNone || enclosing_function(node) == kNone || !is_of_program(nodes_[node].ident)) {
    return false;
  }
  return !is_of_program(caller) ||
         (sites_.functions[caller].wrapper && sites_.sites[nodes_[node].site].parent == kNone);
}

/// Whether the node, or one above it up to the last wait, is of the function.
bool PathTree::is_on_path(uint32_t function, uint32_t last) const {
  uint32_t node = last;
  while (node != kRoot && !starts_blame(nodes_[node].kind) &&
         enclosing_function(node) != function) {
    node = nodes_[node].parent;
  }
  return node != kRoot && enclosing_function(node) == function;
}

bool PathTree::is_of_program(uint32_t function) const {
  return function != kNone && !sites_.functions[function].file.empty();
}

uint32_t PathTree::enclosing_function(uint32_t node) const {
  return node != kRoot && nodes_[node].kind == NodeKind::kFunction ? nodes_[node].ident : kNone;
}

uint32_t PathTree::wait(uint32_t parent, uint32_t name) {
  uint32_t& entry = children_.at(parent, static_cast<uint32_t>(NodeKind::kWait), name);
  if (entry != kNone) {
    return entry;
  }
  const uint32_t function = enclosing_function(parent);
  if (function != kNone) {
    for (uint32_t node = nodes_[parent].parent; node != kNone; node = nodes_[node].parent) {
      if (nodes_[node].kind == NodeKind::kWait && nodes_[node].ident == name &&
          enclosing_function(nodes_[node].parent) == function) {
        return entry = node;
      }
    }
  }
  return entry = add(parent, NodeKind::kWait, name, 0);
}

uint32_t PathTree::make_body(uint32_t node) {
  const uint32_t made = add(node, NodeKind::kBody, 0, 0);
  nodes_[node].body = made;
  return made;
}

}  // namespace vprof::analyzer
