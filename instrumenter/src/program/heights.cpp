#include "program/heights.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {
namespace {

using Graph = std::vector<std::vector<uint32_t>>;

using Ids = std::unordered_map<std::string_view, uint32_t>;

Ids ids_of(const Program& program) {
  Ids ids;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    ids[program.functions[i].key] = i;
  }
  return ids;
}

/// The calls in the source, and those through anything that may lead to several functions.
struct CallGraph {
  Graph calls, targets;
};

CallGraph call_graph(const Program& program) {
  const Ids ids = ids_of(program);
  CallGraph graph{Graph(program.functions.size()), Graph(program.functions.size())};
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    for (const Call& call : program.functions[i].calls) {
      const auto it = ids.find(call.callee_key);
      if (!call.noreturn && is_call(call) && it != ids.end()) {
        graph.calls[i].push_back(it->second);
      }
    }
    for (const std::string& target : program.functions[i].targets) {
      graph.targets[i].push_back(ids.at(target));
    }
  }
  return graph;
}

/// Tarjan's algorithm with an explicit stack, because call graphs of servers are deep. It completes
/// components in reverse topological order: when a component is complete, the heights of everything
/// it calls are known.
class Components {
 public:
  explicit Components(const Graph& graph)
      : graph_(graph),
        index_(graph.size(), 0),
        low_(graph.size(), 0),
        on_stack_(graph.size(), false),
        component_(graph.size(), 0),
        heights_(graph.size(), 0) {
    for (uint32_t v = 0; v < graph_.size(); ++v) {
      if (index_[v] == 0) {
        visit(v);
      }
    }
  }

  bool in_one(uint32_t v, uint32_t w) const { return component_[v] == component_[w]; }
  const std::vector<int>& heights() const { return heights_; }

 private:
  struct Step {
    uint32_t vertex;
    size_t next_edge;
  };

  void enter(uint32_t v) {
    index_[v] = low_[v] = ++counter_;
    stack_.push_back(v);
    on_stack_[v] = true;
    steps_.push_back({v, 0});
  }

  void visit(uint32_t root) {
    enter(root);
    while (!steps_.empty()) {
      const uint32_t v = steps_.back().vertex;
      if (steps_.back().next_edge < graph_[v].size()) {
        const uint32_t w = graph_[v][steps_.back().next_edge++];
        if (index_[w] == 0) {
          enter(w);
        } else if (on_stack_[w]) {
          low_[v] = std::min(low_[v], index_[w]);
        }
        continue;
      }
      if (low_[v] == index_[v]) {
        close_component(v);
      }
      steps_.pop_back();
      if (!steps_.empty()) {
        low_[steps_.back().vertex] = std::min(low_[steps_.back().vertex], low_[v]);
      }
    }
  }

  void close_component(uint32_t v) {
    // A component is the top of the stack, so a search from the top sees only its own members.
    const auto first = std::find(stack_.rbegin(), stack_.rend(), v).base() - 1;
    int height = 0;
    for (auto it = first; it != stack_.end(); ++it) {
      for (const uint32_t w : graph_[*it]) {
        if (!on_stack_[w]) {
          height = std::max(height, heights_[w] + 1);
        }
      }
    }
    // A recursive component is at least one call deep even if it calls nothing else.
    if (height == 0 && std::distance(first, stack_.end()) > 1) {
      height = 1;
    }
    for (auto it = first; it != stack_.end(); ++it) {
      heights_[*it] = height;
      component_[*it] = v;
      on_stack_[*it] = false;
    }
    stack_.erase(first, stack_.end());
  }

  const Graph& graph_;
  std::vector<uint32_t> index_, low_;
  std::vector<bool> on_stack_;
  std::vector<uint32_t> component_;  // one of its members
  std::vector<int> heights_;
  std::vector<uint32_t> stack_;
  std::vector<Step> steps_;
  uint32_t counter_ = 0;
};

}  // namespace

void compute_heights(Program& program) {
  const CallGraph graph = call_graph(program);
  Graph all = graph.calls;
  for (uint32_t i = 0; i < all.size(); ++i) {
    all[i].insert(all[i].end(), graph.targets[i].begin(), graph.targets[i].end());
  }
  const Components circles(all);
  Graph acyclic = graph.calls;  // but for direct recursion
  for (uint32_t i = 0; i < acyclic.size(); ++i) {
    for (const uint32_t target : graph.targets[i]) {
      if (!circles.in_one(i, target)) {
        acyclic[i].push_back(target);
      }
    }
  }
  const std::vector<int> heights = Components(acyclic).heights();
  for (uint32_t i = 0; i < heights.size(); ++i) {
    int& height = program.functions[i].height;
    height = heights[i];
    for (const uint32_t target : graph.targets[i]) {
      height = std::max(height, heights[target] + 1);
    }
  }
}

}  // namespace vprof::instrumenter
