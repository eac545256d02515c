#include "discovery/scanned_graph.h"

#include <deque>

#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

// A call by name may refer to this many functions; if more have the name, the call is ignored.
constexpr size_t kMaxTargets = 3;

}  // namespace

std::string unqualified(const std::string& name) { return std::string(last_part(name)); }

ScannedGraph::ScannedGraph(const ScannedSource& source) : source_(source) {
  for (const ScannedFunction& f : source.functions) {
    if (is_auxiliary(f.file)) {
      continue;
    }
    by_name_[unqualified(f.name)].push_back(functions_.size());
    functions_.push_back(&f);
    std::set<std::string> types;
    for (const ScannedType& type : f.parameters) {
      if (type.pointer) {
        types.insert(type.name);
      }
    }
    for (const std::string& type : types) {
      ++users_[type];
    }
  }
  edges_.resize(functions_.size());
  for (size_t i = 0; i < functions_.size(); ++i) {
    for (const ScannedCall& call : functions_[i]->calls) {
      connect(i, call);
    }
  }
  find_depths();
  find_callers();
  find_repeated();
}

void ScannedGraph::connect(size_t from, const ScannedCall& call) {
  const auto found = by_name_.find(call.name);
  if (found == by_name_.end() || found->second.size() > kMaxTargets) {
    return;
  }
  for (const size_t to : found->second) {
    if (to != from) {
      edges_[from].push_back({to, call.loop});
    }
  }
}

bool ScannedGraph::is_thread_entry(size_t i) const {
  const std::string name = unqualified(functions_[i]->name);
  return name == "main" || source_.thread_entries.contains(name);
}

bool ScannedGraph::is_callback(size_t i) const {
  return source_.passed_on.contains(unqualified(functions_[i]->name)) && !is_thread_entry(i);
}

size_t ScannedGraph::only(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() || found->second.size() != 1 ? SIZE_MAX : found->second[0];
}

void ScannedGraph::find_depths() {
  depth_.assign(edges_.size(), kUnreached);
  std::deque<size_t> queue;
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (!is_thread_entry(i) && !is_callback(i)) {
      continue;
    }
    depth_[i] = unqualified(functions_[i]->name) == "main" ? 0 : 1;
    queue.push_back(i);
  }
  while (!queue.empty()) {
    const size_t from = queue.front();
    queue.pop_front();
    for (const Edge& edge : edges_[from]) {
      if (depth_[edge.to] <= depth_[from] + 1) {
        continue;
      }
      depth_[edge.to] = depth_[from] + 1;
      queue.push_back(edge.to);
    }
  }
}

void ScannedGraph::find_callers() {
  callers_.resize(edges_.size());
  std::vector<int> depth(edges_.size(), kUnreached + 1);
  for (size_t from = 0; from < edges_.size(); ++from) {
    for (const Edge& edge : edges_[from]) {
      Caller& best = callers_[edge.to];
      if (std::pair(edge.loop, -depth_[from]) <= std::pair(best.loop, -depth[edge.to])) {
        continue;
      }
      best = {from, edge.loop};
      depth[edge.to] = depth_[from];
    }
  }
}

void ScannedGraph::find_repeated() {
  repeated_.assign(edges_.size(), false);
  std::vector<size_t> open;
  const auto repeat = [&](size_t i) {
    if (!repeated_[i]) {
      repeated_[i] = true;
      open.push_back(i);
    }
  };
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (callers_[i].loop >= LoopKind::kCounted || is_callback(i)) {
      repeat(i);
    }
  }
  while (!open.empty()) {
    const size_t from = open.back();
    open.pop_back();
    for (const Edge& edge : edges_[from]) {
      repeat(edge.to);
    }
  }
}

size_t ScannedGraph::below(size_t root) const {
  std::vector<bool> seen(edges_.size());
  std::vector<size_t> open = {root};
  size_t count = 0;
  seen[root] = true;
  while (!open.empty()) {
    const size_t from = open.back();
    open.pop_back();
    for (const Edge& edge : edges_[from]) {
      if (!seen[edge.to]) {
        seen[edge.to] = true;
        open.push_back(edge.to);
        ++count;
      }
    }
  }
  return count;
}

size_t ScannedGraph::callees(size_t i) const {
  std::set<std::string> names;
  for (const ScannedCall& call : functions_[i]->calls) {
    names.insert(call.name);
  }
  return names.size();
}

size_t ScannedGraph::users(const std::string& type) const {
  const auto found = users_.find(type);
  return found == users_.end() ? 0 : found->second;
}

}  // namespace vprof::driver
