// The variance tree as the page numbers it, and the nodes that each factor is made of.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "vprof/analyzer/details.h"

namespace vprof::report {

/// Nodes in pre-order, numbered as analyzer::NodeTime does.
class PageTree {
 public:
  struct Entry {
    const analyzer::Node* node;
    uint32_t parent;  ///< of the root: itself
  };

  explicit PageTree(const analyzer::Node& root);

  /// Definitions of functions, by node; without them, call sites distinguish factors.
  void set_facts(const std::vector<analyzer::NodeFacts>& facts);

  const std::vector<Entry>& entries() const { return entries_; }
  /// Children of every node, in the order of analyzer::Node::children.
  std::vector<std::vector<uint32_t>> children() const;
  /// `file:line` of the function; empty if unknown.
  std::string definition(uint32_t node) const;
  /// Nodes of the n-th function of a factor, outermost first.
  std::vector<uint32_t> nodes_of(const analyzer::Factor& factor, size_t n) const;
  /// Those of `nodes` that are below none of the others.
  std::vector<uint32_t> outermost(const std::vector<uint32_t>& nodes) const;
  /// Names from the root to the node.
  std::vector<std::string> path(uint32_t node) const;

 private:
  void index_functions();

  std::vector<Entry> entries_;
  const std::vector<analyzer::NodeFacts>* facts_ = nullptr;
  std::map<std::string, std::vector<uint32_t>> by_function_;
  std::map<std::pair<std::string, std::string>, std::vector<uint32_t>> by_name_;  ///< and key
};

}  // namespace vprof::report
