#include "path_tree.h"

namespace vprof::analyzer {
namespace {

constexpr uint32_t kFrameKey =
    100;  // beyond NodeKind: a frame is looked up by its site, not by its function

bool starts_blame(NodeKind kind) { return kind == NodeKind::kWait || kind == NodeKind::kQueue; }

}  // namespace

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
  const auto [entry, is_new] =
      children_.try_emplace({parent, static_cast<uint32_t>(kind), ident}, 0);
  if (is_new) entry->second = add(parent, kind, ident, 0);
  return entry->second;
}

uint32_t PathTree::frame(uint32_t parent, uint32_t site) {
  const auto [entry, is_new] = children_.try_emplace({parent, kFrameKey, site}, 0);
  if (!is_new) return entry->second;
  const uint32_t function = sites_.sites[site].function;
  for (uint32_t node = parent; node != kRoot && !starts_blame(nodes_[node].kind);
       node = nodes_[node].parent) {
    if (nodes_[node].kind == NodeKind::kFunction && nodes_[node].ident == function) {
      return entry->second = node;
    }
  }
  return entry->second = add(parent, NodeKind::kFunction, function, site);
}

uint32_t PathTree::enclosing_function(uint32_t node) const {
  return node != kRoot && nodes_[node].kind == NodeKind::kFunction ? nodes_[node].ident : kNone;
}

uint32_t PathTree::wait(uint32_t parent, uint32_t name) {
  const auto [entry, is_new] =
      children_.try_emplace({parent, static_cast<uint32_t>(NodeKind::kWait), name}, 0);
  if (!is_new) return entry->second;
  const uint32_t function = enclosing_function(parent);
  if (function != kNone) {
    for (uint32_t node = nodes_[parent].parent; node != kNone; node = nodes_[node].parent) {
      if (nodes_[node].kind == NodeKind::kWait && nodes_[node].ident == name &&
          enclosing_function(nodes_[node].parent) == function) {
        return entry->second = node;
      }
    }
  }
  return entry->second = add(parent, NodeKind::kWait, name, 0);
}

uint32_t PathTree::body(uint32_t node) {
  if (nodes_[node].body == kNone) {
    const uint32_t made = add(node, NodeKind::kBody, 0, 0);
    nodes_[node].body = made;
  }
  return nodes_[node].body;
}

}  // namespace vprof::analyzer
