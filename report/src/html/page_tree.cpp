#include "html/page_tree.h"

#include <algorithm>
#include <unordered_set>

namespace vprof::report {
namespace {

/// What tells functions apart: the key if there is one, otherwise name and definition.
std::string identity(const std::string& name, const std::string& key,
                     const std::string& definition) {
  return key.empty() ? name + "\n" + definition : key;
}

}  // namespace

PageTree::PageTree(const analyzer::Node& root) {
  std::vector<Entry> open = {{&root, 0}};
  while (!open.empty()) {
    const Entry next = open.back();
    open.pop_back();
    const auto number = static_cast<uint32_t>(entries_.size());
    entries_.push_back(next);
    for (size_t i = next.node->children.size(); i-- > 0;) {
      open.push_back({&next.node->children[i], number});
    }
  }
  index_functions();
}

void PageTree::set_facts(const std::vector<analyzer::NodeFacts>& facts) {
  facts_ = &facts;
  index_functions();
}

void PageTree::index_functions() {
  by_function_.clear();
  by_name_.clear();
  for (uint32_t i = 0; i < entries_.size(); ++i) {
    const analyzer::Node& node = *entries_[i].node;
    const std::string known = definition(i);
    by_function_[identity(node.function, node.function_key, known.empty() ? node.location : known)]
        .push_back(i);
    by_name_[{node.function, node.function_key}].push_back(i);
  }
}

std::vector<std::vector<uint32_t>> PageTree::children() const {
  std::vector<std::vector<uint32_t>> children(entries_.size());
  for (uint32_t i = 1; i < entries_.size(); ++i) {
    children[entries_[i].parent].push_back(i);
  }
  return children;
}

std::string PageTree::definition(uint32_t node) const {
  return facts_ == nullptr ? "" : (*facts_)[node].definition;
}

std::vector<uint32_t> PageTree::nodes_of(const analyzer::Factor& factor, size_t n) const {
  const std::string key = n < factor.keys.size() ? factor.keys[n] : "";
  const auto found = by_function_.find(identity(factor.functions[n], key, factor.definition));
  if (found != by_function_.end()) {
    return found->second;
  }
  // Waits have no definition, and the second function of a pair has its own.
  const auto named = by_name_.find({factor.functions[n], key});
  return named == by_name_.end() ? std::vector<uint32_t>() : named->second;
}

std::vector<uint32_t> PageTree::outermost(const std::vector<uint32_t>& nodes) const {
  const std::unordered_set<uint32_t> all(nodes.begin(), nodes.end());
  const auto is_inner = [&](uint32_t node) {
    while (node != 0) {
      node = entries_[node].parent;
      if (all.contains(node)) {
        return true;
      }
    }
    return false;
  };
  std::vector<uint32_t> outer;
  std::copy_if(nodes.begin(), nodes.end(), std::back_inserter(outer),
               [&](uint32_t node) { return !is_inner(node); });
  return outer;
}

std::vector<std::string> PageTree::path(uint32_t node) const {
  std::vector<std::string> names = {entries_[node].node->function};
  while (node != 0) {
    node = entries_[node].parent;
    names.push_back(entries_[node].node->function);
  }
  std::reverse(names.begin(), names.end());
  return names;
}

}  // namespace vprof::report
