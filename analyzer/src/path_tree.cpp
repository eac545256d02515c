#include "path_tree.h"

#include <utility>

namespace vprof::analyzer {
namespace {

constexpr uint32_t kFrameKey =
    100;  // beyond NodeKind: a frame is looked up by its site, not by its function

bool starts_blame(NodeKind kind) { return kind == NodeKind::kWait || kind == NodeKind::kQueue; }

}  // namespace

ChildTable::Entry& ChildTable::find(uint64_t key, uint32_t ident) {
  uint64_t hash = (key ^ (uint64_t{ident} << 20)) * 0x9e3779b97f4a7c15ull;
  hash ^= hash >> 32;
  size_t at = hash & (entries_.size() - 1);
  while (entries_[at].key != 0 && (entries_[at].key != key || entries_[at].ident != ident)) {
    at = (at + 1) & (entries_.size() - 1);
  }
  return entries_[at];
}

uint32_t& ChildTable::at(uint32_t parent, uint32_t kind, uint32_t ident) {
  const uint64_t key = (uint64_t{parent} << 32 | kind) + 1;
  Entry* entry = &find(key, ident);
  if (entry->key != 0) return entry->node;
  if (2 * ++used_ > entries_.size()) {
    grow();
    entry = &find(key, ident);
  }
  entry->key = key;
  entry->ident = ident;
  return entry->node;
}

void ChildTable::grow() {
  const std::vector<Entry> old = std::exchange(entries_, std::vector<Entry>(entries_.size() * 2));
  for (const Entry& entry : old) {
    if (entry.key != 0) find(entry.key, entry.ident) = entry;
  }
}

PathTree::PathTree(const Sites& sites) : sites_(sites) { nodes_.emplace_back(); }

uint32_t PathTree::intern(const std::string& name) {
  const auto [entry, is_new] = name_index_.try_emplace(name, static_cast<uint32_t>(names_.size()));
  if (is_new) names_.push_back(name);
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
  return static_cast<uint32_t>(nodes_.size() - 1);
}

uint32_t PathTree::child(uint32_t parent, NodeKind kind, uint32_t ident) {
  uint32_t& entry = children_.at(parent, static_cast<uint32_t>(kind), ident);
  if (entry == kNone) entry = add(parent, kind, ident, 0);
  return entry;
}

uint32_t PathTree::frame(uint32_t parent, uint32_t site) {
  uint32_t& entry = children_.at(parent, kFrameKey, site);
  if (entry != kNone) return entry;
  const uint32_t function = sites_.sites[site].function;
  for (uint32_t node = parent; node != kRoot && !starts_blame(nodes_[node].kind);
       node = nodes_[node].parent) {
    if (nodes_[node].kind == NodeKind::kFunction && nodes_[node].ident == function) {
      return entry = node;
    }
  }
  return entry = add(parent, NodeKind::kFunction, function, site);
}

uint32_t PathTree::enclosing_function(uint32_t node) const {
  return node != kRoot && nodes_[node].kind == NodeKind::kFunction ? nodes_[node].ident : kNone;
}

uint32_t PathTree::wait(uint32_t parent, uint32_t name) {
  uint32_t& entry = children_.at(parent, static_cast<uint32_t>(NodeKind::kWait), name);
  if (entry != kNone) return entry;
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

uint32_t PathTree::body(uint32_t node) {
  if (nodes_[node].body == kNone) {
    const uint32_t made = add(node, NodeKind::kBody, 0, 0);
    nodes_[node].body = made;
  }
  return nodes_[node].body;
}

}  // namespace vprof::analyzer
