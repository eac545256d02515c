#include "search/expansion.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "search/look_ahead.h"

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

constexpr const char* kBarrierWait = "wait(pthread_barrier_wait)";

using FunctionKeys = std::set<std::string>;

bool can_expand(const Function* f, const Program& program, const State& state) {
  return f != nullptr && program.expandable(*f) && !is_settled(state, f->key);
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

/// Whether the function makes calls in a loop, or a function that it calls does.
bool leads_to_loop(const Function& from, const Program& program) {
  FunctionKeys seen = {from.key};
  std::vector<const Function*> open = {&from};
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    for (const Call& call : function->calls) {
      if (call.in_loop) {
        return true;
      }
      const Function* callee = program.by_key(call.callee_key);
      if (callee != nullptr && seen.insert(callee->key).second) {
        open.push_back(callee);
      }
    }
  }
  return false;
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

/// The share of the variance of threads outside every measured function in and below `node`:
/// `untracked(thread)`, and waits of such a thread that are not explained, directly below the wait
/// for it.
double untracked_share(const analyzer::Node& node, bool below_wait = false) {
  using analyzer::NodeKind;
  if (node.kind == NodeKind::kUntracked) {
    return node.function.starts_with("untracked(") ? node.share : 0;
  }
  const bool is_wait = node.kind == NodeKind::kWait;
  double share = is_wait && below_wait ? node.share : 0;
  for (const analyzer::Node& child : node.children) {
    share += untracked_share(child, is_wait);
    share -= is_wait && below_wait ? child.share : 0;
  }
  return share;
}

bool waits_for_untracked(const analyzer::Profile& profile, const Factor& factor) {
  const bool queue =
      factor.kind == FactorKind::kVariance &&
      (factor.functions[0].starts_with("queue(") || factor.functions[0].starts_with("parked"));
  if (!is_wait(factor) && !queue) {
    return false;
  }
  double share = 0;
  for (const analyzer::Instance& instance : factor.instances) {
    const analyzer::Node* node = node_at(profile.tree, instance.path);
    share += node == nullptr ? 0 : untracked_share(*node);
  }
  return share >= profile.threshold;
}

/// The functions in which threads wait for one another at a barrier, of what can be expanded. What
/// came late there is often in the same function on another thread; with OpenMP it always is.
FunctionKeys functions_at_barriers(const analyzer::Profile& profile, const Factor& factor,
                                   const Program& program, const State& state) {
  FunctionKeys keys;
  if (factor.functions[0] != kBarrierWait) {
    return keys;
  }
  for (const analyzer::Instance& instance : factor.instances) {
    std::vector<std::string> path = instance.path;
    const analyzer::Node* node = nullptr;
    while (path.size() > 1 && (node == nullptr || node->function_key.empty())) {
      path.pop_back();
      node = node_at(profile.tree, path);
    }
    if (node != nullptr && can_expand(program.by_key(node->function_key), program, state)) {
      keys.insert(node->function_key);
    }
  }
  return keys;
}

/// What calls of this kind pass or reach, of what can be expanded.
FunctionKeys expandable_callees(CallKind kind, const Program& program, const State& state) {
  FunctionKeys keys;
  for_each_call(program, kind, [&](const Function&, const Call& call) {
    if (can_expand(program.by_key(call.callee_key), program, state)) {
      keys.insert(call.callee_key);
    }
  });
  return keys;
}

/// The functions that threads start with: main and what is passed to pthread_create and its like,
/// and the tasks that executors and pools run.
FunctionKeys thread_roots(const Program& program, const State& state) {
  FunctionKeys roots = expandable_callees(CallKind::kSpawn, program, state);
  roots.merge(expandable_callees(CallKind::kTask, program, state));
  for (const Function& f : program.functions) {
    if (f.name == "main" && !f.file.empty() && can_expand(&f, program, state)) {
      roots.insert(f.key);
    }
  }
  return roots;
}

void add_measured(const analyzer::Node& node, FunctionKeys& keys) {
  keys.insert(node.function_key);
  for (const analyzer::Node& child : node.children) {
    add_measured(child, keys);
  }
}

/// What those functions call that may go on for as long as the program runs, as
/// `for (;;) serve(next());` does: a frame that is never left is not recorded, so its thread looks
/// as if it were outside every measured function. What is in the profile has returned.
FunctionKeys endless_callees(const analyzer::Profile& profile, const Program& program,
                             const State& state) {
  FunctionKeys returned;
  add_measured(profile.tree, returned);
  State nothing_settled;
  const FunctionKeys roots = thread_roots(program, nothing_settled);
  std::vector<std::string> open(roots.begin(), roots.end());
  FunctionKeys seen = roots;
  FunctionKeys found;
  while (!open.empty()) {
    const Function* caller = program.by_key(open.back());
    open.pop_back();
    for (const Call& call : caller->calls) {
      const Function* callee = program.by_key(call.callee_key);
      if (callee == nullptr || returned.contains(callee->key) || !seen.insert(callee->key).second) {
        continue;
      }
      if (is_settled(state, callee->key)) {
        open.push_back(callee->key);
      } else if (program.expandable(*callee) && leads_to_loop(*callee, program)) {
        found.insert(callee->key);
      }
    }
  }
  return found;
}

/// If all of those are expanded, the functions passed to anything else, such as a lambda in a
/// vector of threads; then what may not have returned.
FunctionKeys functions_of_threads(const analyzer::Profile& profile, const Program& program,
                                  const State& state) {
  FunctionKeys found = thread_roots(program, state);
  if (!found.empty()) {
    return found;
  }
  found = expandable_callees(CallKind::kCallback, program, state);
  if (found.empty() || found.size() > kMostCallbacks) {
    found = endless_callees(profile, program, state);
  }
  return found.size() <= kMostCallbacks ? found : FunctionKeys();
}

// ---- where a wait happens

/// Whether a call of the function may run what the index does not know of: it goes through a
/// pointer that no function of the program is known to be in (`dlsym`).
bool leads_nowhere_known(const Function& function) {
  return function.name.starts_with("(*") && function.targets.empty();
}

/// What to expand to see who makes the call that waits, in the node around the wait: the callers of
/// that call, if they are few; else the function of the node. Where that is no measured function,
/// the functions that threads start with. If all its calls are known, and none leads to that call,
/// something else makes it, such as a signal handler or a plug-in: the callers anywhere. Empty: the
/// caller is known.
FunctionKeys makers_of(const std::string& wait, const analyzer::Node& around,
                       const Program& program, const State& state) {
  if (around.function_key.empty()) {
    FunctionKeys callers = callers_that_wait(wait, nullptr, program, state);
    return callers.empty() ? thread_roots(program, state) : callers;
  }
  const Function* function = program.by_key(around.function_key);
  if (can_expand(function, program, state)) {
    FunctionKeys callers = callers_that_wait(wait, function, program, state);
    return callers.empty() ? FunctionKeys{function->key} : callers;
  }
  if (function == nullptr) {
    return {};
  }
  const bool calls_known =
      !function->file.empty() &&
      (!program.expandable(*function) ||
       std::ranges::find(state.expanded, function->key) != state.expanded.end());
  const bool is_elsewhere =
      leads_nowhere_known(*function) || (calls_known && !may_make(wait, *function, program));
  return is_elsewhere ? callers_that_wait(wait, nullptr, program, state) : FunctionKeys();
}

/// What to expand to see who makes the call that waits, at each large place of the factor. Empty:
/// the callers are known.
FunctionKeys functions_around(const analyzer::Profile& profile, const Factor& factor,
                              const Program& program, const State& state) {
  FunctionKeys keys;
  bool largest = true;
  for (const analyzer::Instance& instance : factor.instances) {
    const bool counts = !instance.dominated && !instance.nested;
    if (!counts || (!largest && instance.share < profile.threshold)) {
      continue;
    }
    largest = false;
    std::vector<std::string> path = instance.path;
    if (path.size() < 2) {
      continue;
    }
    path.pop_back();
    if (const analyzer::Node* around = node_at(profile.tree, path); around != nullptr) {
      keys.merge(makers_of(factor.functions[0], *around, program, state));
    }
  }
  return keys;
}

/// The waits of the interval itself below `around` that hold at least the threshold, by name.
void add_own_waits(const analyzer::Node& around, double threshold, const Program& program,
                   const State& state, std::vector<OwnWait>& found) {
  for (const analyzer::Node& child : around.children) {
    if (child.kind == analyzer::NodeKind::kFunction) {
      add_own_waits(child, threshold, program, state, found);
    } else if (child.kind == analyzer::NodeKind::kWait && child.share >= threshold &&
               !around.function_key.empty()) {
      const FunctionKeys keys = makers_of(child.function, around, program, state);
      if (keys.empty()) {
        continue;
      }
      const auto known = std::ranges::find(found, child.function, &OwnWait::name);
      OwnWait& wait = known == found.end() ? found.emplace_back(child.function) : *known;
      wait.share += child.share;
      wait.keys.insert(wait.keys.end(), keys.begin(), keys.end());
    }
  }
}

// ---- the interval's own time

/// Whether the i-th name of a factor is what an interval's threads do in no measured function.
bool is_own_time(const analyzer::Profile& profile, const Factor& factor, size_t i) {
  const bool has_key = i < factor.keys.size() && !factor.keys[i].empty();
  return !has_key && factor.functions[i] == fmt::format("body({})", profile.tree.function);
}

/// The functions that call those in which intervals begin and end. Where these are expanded, their
/// callers, and so on. An interval from a constructor to a destructor, for example, is the work of
/// the function around both.
FunctionKeys functions_around_interval(const Program& program, const State& state) {
  std::vector<const Function*> open;
  for (const std::string& key : state.expanded) {
    const Function* function = program.by_key(key);
    const auto is_root = [&](const report::Iteration& first) {
      return std::ranges::find(first.expanded, function->name) != first.expanded.end();
    };
    if (function != nullptr && (state.history.empty() || is_root(state.history.front()))) {
      open.push_back(function);
    }
  }
  std::set<const Function*> seen(open.begin(), open.end());
  FunctionKeys found;
  while (!open.empty()) {
    const Function* function = open.back();
    open.pop_back();
    for (const Function* caller : program.callers(*function)) {
      if (!seen.insert(caller).second) {
        continue;
      }
      if (is_settled(state, caller->key)) {
        open.push_back(caller);
      } else if (program.expandable(*caller)) {
        found.insert(caller->key);
      }
    }
  }
  return found.size() <= kMostCallbacks ? found : thread_roots(program, state);
}

}  // namespace

std::vector<OwnWait> own_waits_to_find(const analyzer::Profile& profile, const Program& program,
                                       const State& state) {
  std::vector<OwnWait> found;
  add_own_waits(profile.tree, profile.threshold, program, state, found);
  std::ranges::stable_sort(found, std::greater(), &OwnWait::share);
  return found;
}

std::vector<std::string> expandable_keys(const analyzer::Profile& profile, const Factor& factor,
                                         const Program& program, const State& state) {
  if (is_await(factor)) {
    // What the coroutine hands to what it awaits, such as another coroutine, is in its text.
    const FunctionKeys around = functions_around(profile, factor, program, state);
    if (!around.empty()) {
      return {around.begin(), around.end()};
    }
  }
  if (waits_for_untracked(profile, factor)) {
    FunctionKeys found = functions_at_barriers(profile, factor, program, state);
    if (found.empty()) {
      found = functions_of_threads(profile, program, state);
    }
    return {found.begin(), found.end()};
  }
  if (is_wait(factor)) {
    const FunctionKeys around = functions_around(profile, factor, program, state);
    return {around.begin(), around.end()};
  }
  std::vector<std::string> keys;
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    if (is_own_time(profile, factor, i)) {
      const FunctionKeys around = functions_around_interval(program, state);
      keys.insert(keys.end(), around.begin(), around.end());
      continue;
    }
    const Function* function = function_of(factor, i, program);
    if (can_expand(function, program, state)) {
      keys.push_back(function->key);
    }
  }
  return keys;
}

}  // namespace vprof::driver
