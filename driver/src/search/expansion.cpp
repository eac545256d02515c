#include "search/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

namespace vprof::driver {

namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using instrumenter::Call;
using instrumenter::CallKind;
using instrumenter::Function;
using instrumenter::Program;

/// If it is unknown which of the functions passed around is meant, all of them are expanded, but
/// not more than this: most of a larger number would have nothing to do with the factor.
constexpr size_t kMostCallbacks = 50;

using Keys = std::set<std::string>;

bool can_expand(const Function* f, const Program& program, const State& state) {
  return f != nullptr && program.expandable(*f) &&
         std::ranges::find(state.expanded, f->key) == state.expanded.end();
}

/// Calls `visit(caller, call)` for each call of this kind in the program.
template <class Visit>
void for_each_call(const Program& program, CallKind kind, const Visit& visit) {
  for (const Function& f : program.functions) {
    for (const Call& call : f.calls) {
      if (call.kind == kind) {
        visit(f, call);
      }
    }
  }
}

// ---- from the name of a factor to a function

/// `f` of `body(f)`, else "".
std::string owner_of_body(const std::string& name) {
  constexpr std::string_view kStart = "body(";
  if (!name.starts_with(kStart) || !name.ends_with(')')) {
    return "";
  }
  return name.substr(kStart.size(), name.size() - kStart.size() - 1);
}

/// The function of this name. If there are several, the one defined at `definition` (`file:line`).
const Function* function_named(const std::string& name, const std::string& definition,
                               const Program& program) {
  std::vector<const Function*> found;
  for (const Function* f : program.find(name)) {
    if (f->name == name) {
      found.push_back(f);
    }
  }
  if (found.size() == 1) {
    return found[0];
  }
  const auto defined_there = std::ranges::find_if(found, [&](const Function* f) {
    return fmt::format("{}:{}", f->file, f->line) == definition;
  });
  return defined_there == found.end() ? nullptr : *defined_there;
}

/// The function that the i-th name of a factor refers to; nullptr for a wait and the like.
const Function* function_of(const Factor& factor, size_t i, const Program& program) {
  const std::string& name = factor.functions[i];
  if (i < factor.keys.size() && !factor.keys[i].empty()) {
    const Function* function = program.by_key(factor.keys[i]);
    if (function != nullptr && function->name == name) {
      return function;
    }
  }
  const std::string owner = owner_of_body(name);
  return function_named(owner.empty() ? name : owner, factor.definition, program);
}

// ---- waits for threads that are not measured

const analyzer::Node* node_at(const analyzer::Node& root, const std::vector<std::string>& path) {
  const analyzer::Node* node = &root;
  for (size_t i = 1; i < path.size() && node != nullptr; ++i) {
    const auto child = std::ranges::find(node->children, path[i], &analyzer::Node::function);
    node = child == node->children.end() ? nullptr : &*child;
  }
  return node;
}

/// The share of the variance of `untracked(thread)` nodes in and below `node`: threads outside
/// every measured function.
double untracked_share(const analyzer::Node& node) {
  if (node.kind == analyzer::NodeKind::kUntracked) {
    return node.function.starts_with("untracked(") ? node.share : 0;
  }
  double share = 0;
  for (const analyzer::Node& child : node.children) {
    share += untracked_share(child);
  }
  return share;
}

bool waits_for_untracked(const analyzer::Profile& profile, const Factor& factor) {
  const std::string& name = factor.functions[0];
  if (factor.kind != FactorKind::kVariance ||
      !(name.starts_with("wait(") || name.starts_with("queue("))) {
    return false;
  }
  double share = 0;
  for (const analyzer::Instance& instance : factor.instances) {
    const analyzer::Node* node = node_at(profile.tree, instance.path);
    share += node == nullptr ? 0 : untracked_share(*node);
  }
  return share >= profile.threshold;
}

/// What calls of this kind pass or reach, of what can be expanded.
Keys expandable_callees(CallKind kind, const Program& program, const State& state) {
  Keys keys;
  for_each_call(program, kind, [&](const Function&, const Call& call) {
    if (can_expand(program.by_key(call.callee_key), program, state)) {
      keys.insert(call.callee_key);
    }
  });
  return keys;
}

/// The functions that threads start with: main and what is passed to pthread_create and its like,
/// and the tasks that executors and pools run.
/// If all of those are expanded, the functions passed to anything else, such as a lambda in a
/// vector of threads.
Keys thread_roots(const Program& program, const State& state) {
  Keys roots = expandable_callees(CallKind::kSpawn, program, state);
  roots.merge(expandable_callees(CallKind::kTask, program, state));
  for (const Function& f : program.functions) {
    if (f.name == "main" && !f.file.empty() && can_expand(&f, program, state)) {
      roots.insert(f.key);
    }
  }
  if (!roots.empty()) {
    return roots;
  }
  const Keys callbacks = expandable_callees(CallKind::kCallback, program, state);
  return callbacks.size() <= kMostCallbacks ? callbacks : Keys();
}

}  // namespace

std::vector<std::string> expandable_keys(const analyzer::Profile& profile, const Factor& factor,
                                         const Program& program, const State& state) {
  if (waits_for_untracked(profile, factor)) {
    const Keys roots = thread_roots(program, state);
    return {roots.begin(), roots.end()};
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    const Function* function = function_of(factor, i, program);
    if (can_expand(function, program, state)) {
      keys.push_back(function->key);
    }
  }
  return keys;
}

}  // namespace vprof::driver
