#include "discovery/scan/scanned_graph.h"

#include <algorithm>
#include <deque>

#include "discovery/name_words.h"
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
    stored_.insert(f.leaves_to.begin(), f.leaves_to.end());
  }
  edges_.resize(functions_.size());
  for (size_t i = 0; i < functions_.size(); ++i) {
    for (const ScannedCall& call : functions_[i]->calls) {
      connect(i, call);
    }
  }
  find_depths();
  find_callers();
  find_accepted();
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
  return is_main(name) || source_.thread_entries.contains(name);
}

bool ScannedGraph::is_pool_task(size_t i) const {
  return source_.pool_tasks.contains(unqualified(functions_[i]->name));
}

bool ScannedGraph::is_stored(size_t i) const {
  return stored_.contains(unqualified(functions_[i]->name));
}

bool ScannedGraph::is_callback(size_t i) const {
  return source_.passed_on.contains(unqualified(functions_[i]->name)) && !is_thread_entry(i);
}

size_t ScannedGraph::only(const std::string& name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() || found->second.size() != 1 ? SIZE_MAX : found->second[0];
}

std::string ScannedGraph::unique_name(size_t i) const {
  const ScannedFunction& f = *functions_[i];
  bool elsewhere = false, overloaded = false;
  for (const size_t other : by_name_.at(unqualified(f.name))) {
    if (other == i || functions_[other]->name != f.name) {
      continue;
    }
    elsewhere = elsewhere || functions_[other]->file != f.file;
    overloaded = overloaded || (functions_[other]->file == f.file && !f.file.ends_with(".c"));
  }
  return overloaded  ? fmt::format("{}@{}:{}", f.name, f.file, f.line)
         : elsewhere ? fmt::format("{}@{}", f.name, f.file)
                     : f.name;
}

void ScannedGraph::find_depths() {
  depth_.assign(edges_.size(), kUnreached);
  std::deque<size_t> queue;
  for (size_t i = 0; i < edges_.size(); ++i) {
    if (!is_thread_entry(i) && !is_callback(i)) {
      continue;
    }
    depth_[i] = is_main(unqualified(functions_[i]->name)) ? 0 : 1;
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
    if (callers_[i].loop >= LoopKind::kCounted || is_callback(i) || accepted_by_[i] != SIZE_MAX) {
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

void ScannedGraph::find_accepted() {
  accepted_by_.assign(edges_.size(), SIZE_MAX);
  const auto note = [&](size_t by, const ScannedFunction& passing, bool threads_only) {
    for (const std::string& name : passing.passes) {
      const size_t passed = only(name);
      if (passed != SIZE_MAX && passed != by && !accepts(functions_[passed]->name) &&
          (!threads_only || is_thread_entry(passed))) {
        accepted_by_[passed] = by;
      }
    }
  };
  for (size_t i = 0; i < functions_.size(); ++i) {
    const auto& calls = functions_[i]->calls;
    auto call = std::find_if(calls.begin(), calls.end(),
                             [](const ScannedCall& one) { return accepts(one.name); });
    if (call == calls.end()) {
      continue;
    }
    note(i, *functions_[i], false);
    // What it calls afterwards may begin a thread for the client.
    for (; call != calls.end(); ++call) {
      const auto callees = by_name_.find(call->name);
      for (const size_t callee :
           callees == by_name_.end() ? std::vector<size_t>() : callees->second) {
        note(i, *functions_[callee], true);
      }
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
