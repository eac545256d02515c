#include "search/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/common_callee.h"
#include "search/expansion.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::FactorStatus;
using instrumenter::Program;

bool already_expanded(const Factor& factor, const State& state) {
  return factor.status == FactorStatus::kExpanded ||
         (factor.kind == FactorKind::kVariance &&
          std::ranges::find(state.expanded, factor_id(factor)) != state.expanded.end());
}

/// Line 16, for the first k factors of one kind that add something to the expansion.
void expand_first(size_t k, FactorKind kind, Decision& decision, const analyzer::Profile& profile,
                  const std::vector<const Factor*>& factors, const Program& program,
                  const State& state) {
  for (const Factor* factor : factors) {
    if (decision.why.size() == k) {
      return;
    }
    if (factor->kind != kind) {
      continue;
    }
    expand(decision, *factor, expandable_keys(profile, *factor, program, state));
  }
}

}  // namespace

void expand_callers(Decision& decision, const CommonCallee& callee) {
  if (callee.keys.empty()) {
    return;
  }
  decision.expand = callee.keys;
  decision.why.push_back(callee.in_words());
}

void expand(Decision& decision, const Factor& factor, const std::vector<std::string>& keys) {
  const size_t before = decision.expand.size();
  for (const std::string& key : keys) {
    if (std::ranges::find(decision.expand, key) == decision.expand.end()) {
      decision.expand.push_back(key);
    }
  }
  if (decision.expand.size() != before) {
    decision.why.push_back(
        fmt::format("{} ({:.0f} % of the variance)", factor_name(factor), 100 * factor.weight));
  }
}

std::vector<const Factor*> undecided(const analyzer::Profile& profile, const State& state) {
  std::vector<const Factor*> factors;
  for (const Factor& factor : profile.factors) {
    if (factor.weight >= profile.threshold && !already_expanded(factor, state) &&
        !contains(state.selected, factor) && !contains(state.set_aside, factor)) {
      factors.push_back(&factor);
    }
  }
  return factors;
}

Decision decide_automatically(const analyzer::Profile& profile, const Program& program,
                              const State& state, const analyzer::Options& options) {
  Decision decision;
  // Only the last profile has answers: an expansion since may have explained an earlier one.
  State open = state;
  open.selected.clear();
  const std::vector<const Factor*> factors = undecided(profile, open);
  const auto k = static_cast<size_t>(options.k);
  expand_first(k, FactorKind::kVariance, decision, profile, factors, program, open);
  if (decision.expand.empty()) {
    expand_first(k, FactorKind::kCovariance, decision, profile, factors, program, open);
  }
  if (decision.expand.empty()) {
    expand_callers(decision, find_common_callee(profile, program, open));
  }
  size_t seen = 0;
  for (const Factor* factor : factors) {
    // What may be chance is no answer.
    if (!factor->significant) {
      continue;
    }
    if (seen++ == k) {
      break;
    }
    if (factor->kind == FactorKind::kVariance &&
        expandable_keys(profile, *factor, program, open).empty()) {
      decision.selected.push_back(decided(*factor));  // line 19
    }
  }
  return decision;
}

}  // namespace vprof::driver
