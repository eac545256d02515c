// The call graph as other programs read it.
//
//   Program ──call_graph()──▶ CallGraph {nodes, edges} ──▶ DOT, JSON
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::driver {

struct GraphEdge {
  const instrumenter::Function* from = nullptr;
  const instrumenter::Function* to = nullptr;
  std::string kind;    ///< direct, virtual, indirect, spawn, callback; `target`: behind a pointer,
                       ///< virtual method or macro
  uint32_t calls = 0;  ///< places in `from`; 0 for targets
};

struct CallGraph {
  std::vector<const instrumenter::Function*> nodes;  ///< sorted by key
  std::vector<GraphEdge> edges;                      ///< sorted by keys and kind
};

/// The whole graph, or `around` with its callers, callees and targets.
CallGraph call_graph(const instrumenter::Program& program, const instrumenter::Function* around);

/// Virtual methods, pointers and macros through which `f` may be called.
std::vector<const instrumenter::Function*> reached_through(const instrumenter::Program& program,
                                                           const instrumenter::Function& f);

std::string to_dot(const CallGraph& graph);
/// {"functions": [{"key", "name", "file", "line", "height"}], "edges": [{"from", "to", "kind",
/// "calls"}]}, `from` and `to` being keys.
std::string to_json(const CallGraph& graph);

}  // namespace vprof::driver
