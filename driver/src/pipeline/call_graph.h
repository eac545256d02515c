// The call graph in the formats of other programs:
//
//   Program ──call_graph()──▶ CallGraph {nodes, edges} ──▶ DOT, JSON
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::driver {

/// How users read a kind of call.
struct CallKindText {
  const char* name;       ///< in JSON: `spawn`
  const char* phrase;     ///< behind a call: `starts a thread with it`
  const char* dot_style;  ///< attributes of its edge
};

const CallKindText& text_of(instrumenter::CallKind kind);

struct GraphEdge {
  const instrumenter::Function* from = nullptr;
  const instrumenter::Function* to = nullptr;
  const CallKindText* kind = nullptr;
  uint32_t calls = 0;  ///< places in `from`; 0 if `to` is one of its targets
};

struct CallGraph {
  std::vector<const instrumenter::Function*> nodes;  ///< sorted by key
  std::vector<GraphEdge> edges;                      ///< sorted by keys and kind
};

/// The whole graph, or `around` with its callers, callees and targets.
CallGraph call_graph(const instrumenter::Program& program, const instrumenter::Function* around);

/// The pointers, virtual methods and macros whose call may reach `f`.
std::vector<const instrumenter::Function*> reached_through(const instrumenter::Program& program,
                                                           const instrumenter::Function& f);

std::string to_dot(const CallGraph& graph);

/// {"functions": [{"key", "name", "file", "line", "height"}], "edges": [{"from", "to", "kind",
/// "calls"}]}; `from` and `to` are keys.
std::string to_json(const CallGraph& graph);

}  // namespace vprof::driver
