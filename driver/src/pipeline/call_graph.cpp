#include "pipeline/call_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

namespace vprof::driver {

namespace {

using instrumenter::Call;
using instrumenter::CallKind;
using instrumenter::Function;
using instrumenter::Program;

const char* name_of(CallKind kind) {
  switch (kind) {
    case CallKind::kDirect:
      return "direct";
    case CallKind::kVirtual:
      return "virtual";
    case CallKind::kIndirect:
      return "indirect";
    case CallKind::kSpawn:
      return "spawn";
    case CallKind::kCallback:
      return "callback";
  }
  return "";
}

struct ByKey {
  bool operator()(const Function* a, const Function* b) const { return a->key < b->key; }
};

std::string quoted(const std::string& text) {
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

const char* style_of(const std::string& kind) {
  if (kind == "spawn") {
    return " [style=bold, label=\"starts\"]";
  }
  if (kind == "callback") {
    return " [style=dotted, label=\"hands on\"]";
  }
  if (kind == "direct") {
    return "";
  }
  return " [style=dashed]";
}

}  // namespace

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
  const auto add = [&](const Function& from, const std::string& to_key, const std::string& kind,
                       uint32_t calls) {
    const Function* to = program.by_key(to_key);
    if (to == nullptr || (around != nullptr && &from != around && to != around)) {
      return;
    }
    GraphEdge& edge = edges[{from.key, to_key, kind}];
    edge.from = &from;
    edge.to = to;
    edge.kind = kind;
    edge.calls += calls;
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
      add(f, call.callee_key, name_of(call.kind), 1);
    }
    for (const std::string& key : f.targets) {
      add(f, key, "target", 0);
    }
  }
  CallGraph graph;
  graph.nodes.assign(nodes.begin(), nodes.end());
  for (auto& [names, edge] : edges) {
    graph.edges.push_back(std::move(edge));
  }
  return graph;
}

std::string to_dot(const CallGraph& graph) {
  std::string text = "digraph calls {\n  node [shape=box];\n";
  for (const Function* f : graph.nodes) {
    const std::string place = f->file.empty() ? "" : fmt::format("\n{}:{}", f->file, f->line);
    text += fmt::format("  {} [label={}];\n", quoted(f->key),
                        quoted(fmt::format("{}{}\nheight {}", f->name, place, f->height)));
  }
  for (const GraphEdge& edge : graph.edges) {
    text += fmt::format("  {} -> {}{};\n", quoted(edge.from->key), quoted(edge.to->key),
                        style_of(edge.kind));
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
                     {"kind", edge.kind},
                     {"calls", edge.calls}});
  }
  const json document{{"schema", 1}, {"functions", functions}, {"edges", edges}};
  return document.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace vprof::driver
