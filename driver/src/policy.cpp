#include "policy.h"

#include <algorithm>

#include "analysis.h"

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
  if (name.rfind(kStart, 0) != 0 || name.back() != ')') return "";
  return name.substr(kStart.size(), name.size() - kStart.size() - 1);
}

/// The one function of this name; where there are several, the one that is defined at `definition`
/// (`file:line`).
const Function* function_named(const std::string& name, const std::string& definition,
                               const Program& program) {
  std::vector<const Function*> found;
  for (const Function* f : program.find(name)) {
    if (f->name == name) found.push_back(f);
  }
  if (found.size() == 1) return found[0];
  for (const Function* f : found) {
    if (fmt::format("{}:{}", f->file, f->line) == definition) return f;
  }
  return nullptr;
}

/// The function that the i-th name of a factor stands for; nullptr for waits and the like. What is
/// called the body of a function that was never expanded is the whole function but for its waits,
/// so it stands for the function.
const Function* function_of(const Factor& factor, size_t i, const Program& program) {
  if (i < factor.keys.size() && !factor.keys[i].empty()) {
    const Function* function = program.by_key(factor.keys[i]);
    if (function != nullptr && function->name == factor.functions[i]) return function;
  }
  const std::string owner = owner_of_body(factor.functions[i]);
  return function_named(owner.empty() ? factor.functions[i] : owner, factor.definition, program);
}

bool already_expanded(const Factor& factor, const State& state) {
  if (factor.status == FactorStatus::kExpanded) return true;
  return factor.kind == FactorKind::kVariance && contains(state.expanded, factor_id(factor));
}

/// Takes what can be expanded of `factors` of one kind, at most k factors.
void take(Decision& decision, const std::vector<const Factor*>& factors, FactorKind kind,
          const Program& program, const State& state, int k) {
  int taken = 0;
  for (const Factor* factor : factors) {
    if (taken == k) return;
    if (factor->kind != kind) continue;
    bool any = false;
    for (const std::string& key : expandable_keys(*factor, program, state)) {
      if (!contains(decision.expand, key)) {
        decision.expand.push_back(key);
        any = true;
      }
    }
    if (!any) continue;
    ++taken;
    decision.why.push_back(expansion_reason(*factor));
  }
}

}  // namespace

std::string expansion_reason(const Factor& factor) {
  return fmt::format("{} ({:.0f} % of the variance)", factor_name(factor),
                     100 * factor.contribution);
}

std::vector<std::string> expandable_keys(const Factor& factor, const Program& program,
                                         const State& state) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < factor.functions.size(); ++i) {
    const Function* function = function_of(factor, i, program);
    if (function == nullptr || !program.expandable(*function) ||
        contains(state.expanded, function->key))
      continue;
    keys.push_back(function->key);
  }
  return keys;
}

std::vector<const Factor*> undecided(const analyzer::Profile& profile, const State& state) {
  std::vector<const Factor*> factors;
  for (const Factor& factor : profile.factors) {
    if (factor.contribution < profile.threshold || already_expanded(factor, state) ||
        decided(state, factor))
      continue;
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
  take(decision, factors, FactorKind::kVariance, program, open, options.k);
  if (decision.expand.empty())
    take(decision, factors, FactorKind::kCovariance, program, open, options.k);
  for (size_t i = 0; i < factors.size() && i < static_cast<size_t>(options.k); ++i) {
    const Factor& factor = *factors[i];
    const bool leaf =
        factor.kind == FactorKind::kVariance && expandable_keys(factor, program, open).empty();
    if (leaf) decision.selected.push_back({.id = factor_id(factor), .name = factor_name(factor)});
  }
  return decision;
}

}  // namespace vprof::driver
