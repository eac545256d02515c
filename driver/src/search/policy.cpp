#include "search/policy.h"

#include <algorithm>
#include <set>

#include "pipeline/analysis.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::FactorStatus;
using instrumenter::Function;
using instrumenter::Program;

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

bool decided(const State& state, const Factor& factor) {
  const std::string id = factor_id(factor);
  const auto same = [&id](const Decided& one) { return one.id == id; };
  return std::any_of(state.selected.begin(), state.selected.end(), same) ||
         std::any_of(state.set_aside.begin(), state.set_aside.end(), same);
}

/// `f` of `body(f)`, else "".
std::string owner_of_body(const std::string& name) {
  constexpr std::string_view kStart = "body(";
  if (name.rfind(kStart, 0) != 0 || name.back() != ')') {
    return "";
  }
  return name.substr(kStart.size(), name.size() - kStart.size() - 1);
}

/// The one function of this name; where there are several, the one that is defined at `definition`
/// (`file:line`).
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
  for (const Function* f : found) {
    if (fmt::format("{}:{}", f->file, f->line) == definition) {
      return f;
    }
  }
  return nullptr;
}

/// The function that the i-th name of a factor stands for; nullptr for waits and the like. What is
/// called the body of a function that was never expanded is the whole function but for its waits,
/// so it stands for the function.
const Function* function_of(const Factor& factor, size_t i, const Program& program) {
  if (i < factor.keys.size() && !factor.keys[i].empty()) {
    const Function* function = program.by_key(factor.keys[i]);
    if (function != nullptr && function->name == factor.functions[i]) {
      return function;
    }
  }
  const std::string owner = owner_of_body(factor.functions[i]);
  return function_named(owner.empty() ? factor.functions[i] : owner, factor.definition, program);
}

bool already_expanded(const Factor& factor, const State& state) {
  if (factor.status == FactorStatus::kExpanded) {
    return true;
  }
  return factor.kind == FactorKind::kVariance && contains(state.expanded, factor_id(factor));
}

/// Takes what can be expanded of `factors` of one kind, at most k factors.
void take(Decision& decision, const analyzer::Profile& profile,
          const std::vector<const Factor*>& factors, FactorKind kind, const Program& program,
          const State& state, int k) {
  int taken = 0;
  for (const Factor* factor : factors) {
    if (taken == k) {
      return;
    }
    if (factor->kind != kind) {
      continue;
    }
    bool any = false;
    for (const std::string& key : expandable_keys(profile, *factor, program, state)) {
      if (!contains(decision.expand, key)) {
        decision.expand.push_back(key);
        any = true;
      }
    }
    if (!any) {
      continue;
    }
    ++taken;
    decision.why.push_back(expansion_reason(*factor));
  }
}

// ---- waits for threads of which nothing is measured

const analyzer::Node* node_at(const analyzer::Node& root, const std::vector<std::string>& path) {
  const analyzer::Node* node = &root;
  for (size_t i = 1; i < path.size() && node != nullptr; ++i) {
    const auto& children = node->children;
    const auto found = std::find_if(children.begin(), children.end(),
                                    [&](const auto& child) { return child.function == path[i]; });
    node = found == children.end() ? nullptr : &*found;
  }
  return node;
}

/// Part of the variance of the latency that goes with threads outside every measured function
/// (`untracked(worker)`) below `node`.
double untracked_share(const analyzer::Node& node) {
  if (node.kind == analyzer::NodeKind::kUntracked) {
    return node.function.rfind("untracked(", 0) == 0 ? node.share : 0;
  }
  double share = 0;
  for (const analyzer::Node& child : node.children) {
    share += untracked_share(child);
  }
  return share;
}

bool waits_for_untracked(const analyzer::Profile& profile, const Factor& factor) {
  if (factor.kind != FactorKind::kVariance) {
    return false;
  }
  const std::string& name = factor.functions[0];
  if (name.rfind("wait(", 0) != 0 && name.rfind("queue(", 0) != 0) {
    return false;
  }
  double share = 0;
  for (const analyzer::Instance& instance : factor.instances) {
    const analyzer::Node* node = node_at(profile.tree, instance.path);
    if (node != nullptr) {
      share += untracked_share(*node);
    }
  }
  return share >= profile.threshold;
}

/// Most functions handed on that are expanded where it is not known which of them is meant: of
/// more, most would have nothing to do with it.
constexpr size_t kMostCallbacks = 50;

/// Where threads begin: main and what is handed to pthread_create and its like; if all that is
/// expanded, functions handed to anything else (a lambda for a vector of threads), unless they are
/// many.
std::vector<std::string> thread_roots(const Program& program, const State& state) {
  std::set<std::string> begins;
  std::set<std::string> handed_on;
  const auto add = [&](std::set<std::string>& keys, const Function* f) {
    if (f != nullptr && program.expandable(*f) && !contains(state.expanded, f->key)) {
      keys.insert(f->key);
    }
  };
  for (const Function& f : program.functions) {
    if (f.name == "main" && !f.file.empty()) {
      add(begins, &f);
    }
    for (const instrumenter::Call& call : f.calls) {
      if (call.kind == instrumenter::CallKind::kSpawn) {
        add(begins, program.by_key(call.callee_key));
      }
      if (call.kind == instrumenter::CallKind::kCallback) {
        add(handed_on, program.by_key(call.callee_key));
      }
    }
  }
  if (begins.empty() && handed_on.size() <= kMostCallbacks) {
    begins = std::move(handed_on);
  }
  return {begins.begin(), begins.end()};
}

/// What a library function runs: functions handed to it where it is called; for a call operator
/// (`std::function`) those handed to anything, unless they are many.
std::vector<std::string> callbacks_of(const Function& library, const Program& program,
                                      const State& state) {
  std::set<std::string> here;
  std::set<std::string> anywhere;
  for (const Function& f : program.functions) {
    for (const instrumenter::Call& handed : f.calls) {
      if (handed.kind != instrumenter::CallKind::kCallback) {
        continue;
      }
      const Function* callback = program.by_key(handed.callee_key);
      if (callback == nullptr || !program.expandable(*callback) ||
          contains(state.expanded, callback->key)) {
        continue;
      }
      anywhere.insert(callback->key);
      const bool to_it = std::any_of(f.calls.begin(), f.calls.end(), [&](const auto& call) {
        return call.callee_key == library.key && call.file == handed.file &&
               call.line == handed.line;
      });
      if (to_it) {
        here.insert(callback->key);
      }
    }
  }
  constexpr std::string_view kOperator = "::operator()";
  const bool is_operator = library.name.size() > kOperator.size() &&
                           library.name.compare(library.name.size() - kOperator.size(),
                                                kOperator.size(), kOperator) == 0;
  if (here.empty() && is_operator && anywhere.size() <= kMostCallbacks) {
    here = std::move(anywhere);
  }
  return {here.begin(), here.end()};
}

}  // namespace

std::string expansion_reason(const Factor& factor) {
  return fmt::format("{} ({:.0f} % of the variance)", factor_name(factor),
                     100 * factor.contribution);
}

std::vector<std::string> expandable_keys(const analyzer::Profile& profile, const Factor& factor,
                                         const Program& program, const State& state) {
  std::vector<std::string> keys;
  if (waits_for_untracked(profile, factor)) {
    return thread_roots(program, state);
  }
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    const Function* function = function_of(factor, i, program);
    if (function == nullptr) {
      continue;
    }
    if (function->file.empty() && !program.expandable(*function)) {
      for (std::string& key : callbacks_of(*function, program, state)) {
        keys.push_back(std::move(key));
      }
    } else if (program.expandable(*function) && !contains(state.expanded, function->key)) {
      keys.push_back(function->key);
    }
  }
  return keys;
}

std::vector<const Factor*> undecided(const analyzer::Profile& profile, const State& state) {
  std::vector<const Factor*> factors;
  for (const Factor& factor : profile.factors) {
    if (factor.contribution < profile.threshold || already_expanded(factor, state) ||
        decided(state, factor)) {
      continue;
    }
    factors.push_back(&factor);
  }
  return factors;
}

Decision decide_automatically(const analyzer::Profile& profile, const Program& program,
                              const State& state, const analyzer::Options& options) {
  Decision decision;
  // Answers are those of the last profile: what led in an earlier one may have been explained by
  // what was expanded since.
  State open = state;
  open.selected.clear();
  const std::vector<const Factor*> factors = undecided(profile, open);
  take(decision, profile, factors, FactorKind::kVariance, program, open, options.k);
  if (decision.expand.empty()) {
    take(decision, profile, factors, FactorKind::kCovariance, program, open, options.k);
  }
  for (size_t i = 0; i < factors.size() && i < static_cast<size_t>(options.k); ++i) {
    const Factor& factor = *factors[i];
    const bool leaf = factor.kind == FactorKind::kVariance &&
                      expandable_keys(profile, factor, program, open).empty();
    if (leaf) {
      decision.selected.push_back({.id = factor_id(factor), .name = factor_name(factor)});
    }
  }
  return decision;
}

}  // namespace vprof::driver
