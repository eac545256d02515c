#include "pipeline/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

using instrumenter::Call;
using instrumenter::CallKind;
using instrumenter::Function;
using instrumenter::Program;

/// The edge from a pointer, virtual method, macro or library function to a function that its call
/// may reach.
constexpr CallKindText kTarget = {.name = "target", .phrase = "", .dot_style = " [style=dashed]"};

struct ByKey {
  bool operator()(const Function* a, const Function* b) const { return a->key < b->key; }
};

std::string quoted_for_dot(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  return out + "\"";
}

}  // namespace

const CallKindText& text_of(CallKind kind) {
  static constexpr CallKindText kDirect = {.name = "direct", .phrase = "", .dot_style = ""};
  static constexpr CallKindText kVirtual = {
      .name = "virtual", .phrase = "virtual", .dot_style = " [style=dashed]"};
  static constexpr CallKindText kIndirect = {
      .name = "indirect", .phrase = "through a pointer", .dot_style = " [style=dashed]"};
  static constexpr CallKindText kSpawn = {.name = "spawn",
                                          .phrase = "starts a thread with it",
                                          .dot_style = " [style=bold, label=\"starts\"]"};
  static constexpr CallKindText kCallback = {.name = "callback",
                                             .phrase = "passes it on",
                                             .dot_style = " [style=dotted, label=\"passes on\"]"};
  static constexpr CallKindText kTask = {.name = "task",
                                         .phrase = "hands it to an executor",
                                         .dot_style = " [style=bold, label=\"hands over\"]"};
  static constexpr CallKindText kInstance = {
      .name = "instance", .phrase = "in an instantiation", .dot_style = " [style=dashed]"};
  switch (kind) {
    case CallKind::kVirtual:
      return kVirtual;
    case CallKind::kIndirect:
      return kIndirect;
    case CallKind::kSpawn:
      return kSpawn;
    case CallKind::kCallback:
      return kCallback;
    case CallKind::kTask:
      return kTask;
    case CallKind::kInstance:
      return kInstance;
    case CallKind::kDirect:
      break;
  }
  return kDirect;
}

std::vector<const Function*> reached_through(const Program& program, const Function& f) {
  std::vector<const Function*> result;
  for (const Function& other : program.functions) {
    if (std::binary_search(other.targets.begin(), other.targets.end(), f.key)) {
      result.push_back(&other);
    }
  }
  return result;
}

CallGraph call_graph(const Program& program, const Function* around) {
  std::map<std::tuple<std::string, std::string, std::string>, GraphEdge> edges;
  std::set<const Function*, ByKey> nodes;
  const auto add = [&](const Function& from, const std::string& to_key, const CallKindText& kind,
                       uint32_t calls) {
    const Function* to = program.by_key(to_key);
    if (to == nullptr || (around != nullptr && &from != around && to != around)) {
      return;
    }
    GraphEdge& edge = edges[{from.key, to_key, kind.name}];
    edge = {.from = &from, .to = to, .kind = &kind, .calls = edge.calls + calls};
    nodes.insert({&from, to});
  };
  if (around != nullptr) {
    nodes.insert(around);
  }
  for (const Function& f : program.functions) {
    if (around == nullptr) {
      nodes.insert(&f);
    }
    for (const Call& call : f.calls) {
      add(f, call.callee_key, text_of(call.kind), 1);
    }
    for (const std::string& key : f.targets) {
      add(f, key, kTarget, 0);
    }
  }
  CallGraph graph;
  graph.nodes.assign(nodes.begin(), nodes.end());
  for (const auto& [names, edge] : edges) {
    graph.edges.push_back(edge);
  }
  return graph;
}

std::string to_dot(const CallGraph& graph) {
  std::string text = "digraph calls {\n  node [shape=box];\n";
  for (const Function* f : graph.nodes) {
    const std::string place = f->file.empty() ? "" : fmt::format("\n{}:{}", f->file, f->line);
    text += fmt::format("  {} [label={}];\n", quoted_for_dot(f->key),
                        quoted_for_dot(fmt::format("{}{}\nheight {}", f->name, place, f->height)));
  }
  for (const GraphEdge& edge : graph.edges) {
    text += fmt::format("  {} -> {}{};\n", quoted_for_dot(edge.from->key),
                        quoted_for_dot(edge.to->key), edge.kind->dot_style);
  }
  return text + "}\n";
}

std::string to_json(const CallGraph& graph) {
  using nlohmann::json;
  json functions = json::array();
  for (const Function* f : graph.nodes) {
    functions.push_back({{"key", f->key},
                         {"name", f->name},
                         {"file", f->file},
                         {"line", f->line},
                         {"height", f->height}});
  }
  json edges = json::array();
  for (const GraphEdge& edge : graph.edges) {
    edges.push_back({{"from", edge.from->key},
                     {"to", edge.to->key},
                     {"kind", edge.kind->name},
                     {"calls", edge.calls}});
  }
  const json document{
      {"$schema", "graph.schema.json"}, {"schema", 1}, {"functions", functions}, {"edges", edges}};
  return json_text(document) + "\n";
}

}  // namespace vprof::driver
