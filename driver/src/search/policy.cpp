#include "search/policy.h"

#include <fmt/format.h>

#include <algorithm>

#include "search/common_callee.h"
#include "search/expansion.h"
#include "vprof/analyzer/marks.h"

namespace vprof::driver {

namespace {

using analyzer::Factor;
using analyzer::FactorKind;
using analyzer::FactorStatus;
using instrumenter::Program;

/// Counts the nodes of a function, and those that have parts.
void count_nodes(const analyzer::Node& node, const std::string& key, size_t& nodes,
                 size_t& parted) {
  if (node.function_key == key) {
    ++nodes;
    parted += node.children.empty() ? 0 : 1;
  }
  for (const analyzer::Node& child : node.children) {
    count_nodes(child, key, nodes, parted);
  }
}

/// Whether the function was expanded and is all body nevertheless: it calls nothing that is
/// measured, because the calls cost too much or were not made.
bool is_all_body(const analyzer::Profile& profile, const Factor& factor) {
  if (factor.kind != FactorKind::kVariance || factor.keys.empty() || factor.keys[0].empty()) {
    return false;
  }
  size_t nodes = 0;
  size_t parted = 0;
  count_nodes(profile.tree, factor.keys[0], nodes, parted);
  return nodes != 0 && parted == 0;
}

bool already_expanded(const analyzer::Profile& profile, const Factor& factor, const State& state) {
  const bool expanded =
      factor.status == FactorStatus::kExpanded ||
      (factor.kind == FactorKind::kVariance &&
       std::ranges::find(state.expanded, factor_id(factor)) != state.expanded.end());
  return expanded && !is_all_body(profile, factor);
}

/// Whether the next plan leaves out the calls of this function because they distort the intervals
/// in which they are many: what they seem to explain is no answer.
bool is_left_out_next(const Factor& factor, const State& state) {
  return std::ranges::any_of(state.demoted, [&](const report::Demoted& one) {
    return one.since > state.iteration && !one.heavy_in.empty() &&
           (factor.functions[0] == one.function ||
            factor.functions[0] == fmt::format("body({})", one.function));
  });
}

/// Adds up what of the share of a function is in none of the functions and waits found below it.
void add_body_share(const analyzer::Node& node, const std::string& key, double& share,
                    bool& found) {
  if (node.function_key == key) {
    found = true;
    if (node.children.empty()) {
      share += node.share;
    }
  }
  for (const analyzer::Node& child : node.children) {
    if (node.function_key == key && child.kind == analyzer::NodeKind::kBody) {
      share += child.share;
    }
    add_body_share(child, key, share, found);
  }
}

/// Whether breaking the factor down can find anything that reaches the threshold. A function that
/// is not expanded may have measured ones far below it, which explain it already.
bool has_more_to_tell(const analyzer::Profile& profile, const Factor& factor) {
  const std::string key = factor.keys.empty() ? "" : factor.keys[0];
  if (key.empty() || factor.kind != FactorKind::kVariance ||
      profile.ranking != analyzer::Ranking::kShare) {
    return true;
  }
  double share = 0;
  bool found = false;
  add_body_share(profile.tree, key, share, found);
  return !found || share >= profile.threshold;
}

/// Line 16, for the first k factors of one kind that add something to the expansion.
void expand_first(size_t k, FactorKind kind, Decision& decision, const analyzer::Profile& profile,
                  const std::vector<const Factor*>& factors, const Program& program,
                  const State& state) {
  for (const Factor* factor : factors) {
    if (decision.why.size() == k) {
      return;
    }
    if (factor->kind != kind || !has_more_to_tell(profile, *factor)) {
      continue;
    }
    expand(decision, *factor, expandable_keys(profile, *factor, program, state));
  }
}

/// Expands these functions because of `why`, unless others have expanded all of them already.
void add(Decision& decision, const std::vector<std::string>& keys, bool open_ended,
         const std::string& why) {
  const size_t before = decision.expand.size();
  for (const std::string& key : keys) {
    if (std::ranges::find(decision.expand, key) == decision.expand.end()) {
      decision.expand.push_back(key);
      if (open_ended) {
        decision.open_ended.push_back(key);
      }
    }
  }
  if (decision.expand.size() != before) {
    decision.why.push_back(why);
  }
}

/// `f (72 % of the variance)`
std::string in_words(const std::string& name, double share) {
  return fmt::format("{} ({:.0f} % of the variance)", name, 100 * share);
}

}  // namespace

void expand_callers(Decision& decision, const CommonCallee& callee) {
  if (callee.keys.empty()) {
    return;
  }
  decision.expand = decision.open_ended = callee.keys;
  decision.why.push_back(callee.in_words());
}

void expand(Decision& decision, const Factor& factor, const std::vector<std::string>& keys) {
  add(decision, keys, !is_wait(factor),
      in_words(factor_name(factor),
               factor.kind == FactorKind::kVariance ? factor.share : factor.weight));
}

std::vector<const Factor*> undecided(const analyzer::Profile& profile, const State& state) {
  std::vector<const Factor*> factors;
  for (const Factor& factor : profile.factors) {
    if (factor.weight >= profile.threshold && !already_expanded(profile, factor, state) &&
        !contains(state.selected, factor) && !contains(state.set_aside, factor)) {
      factors.push_back(&factor);
    }
  }
  return factors;
}

Decision decide_automatically(const analyzer::Profile& profile, const Program& program,
                              const State& state, const analyzer::Options& options) {
  Decision decision;
  // Only the last profile has answers: an expansion since may have explained an earlier one. What
  // the user has accepted stays.
  State open = state;
  std::erase_if(open.selected, [](const DecidedFactor& one) { return !one.by_user; });
  const std::vector<const Factor*> factors = undecided(profile, open);
  const auto k = static_cast<size_t>(options.k);
  expand_first(k, FactorKind::kVariance, decision, profile, factors, program, open);
  if (decision.expand.empty()) {
    expand_first(k, FactorKind::kCovariance, decision, profile, factors, program, open);
  }
  if (decision.expand.empty()) {
    const std::vector<OwnWait> waits = own_waits_to_find(profile, program, open);
    for (size_t i = 0; i < std::min(k, waits.size()); ++i) {
      add(decision, waits[i].keys, false, in_words(waits[i].name, waits[i].share));
    }
  }
  if (decision.expand.empty()) {
    expand_callers(decision, find_common_callee(profile, program, open));
  }
  size_t seen = 0;
  for (const Factor* factor : factors) {
    // What may be chance is no answer.
    if (!factor->significant || analyzer::may_be_zero(*factor, profile.ranking)) {
      continue;
    }
    if (seen++ == k) {
      break;
    }
    if (factor->kind == FactorKind::kVariance && !is_left_out_next(*factor, state) &&
        expandable_keys(profile, *factor, program, open).empty()) {
      decision.selected.push_back(decided(*factor));  // line 19
    }
  }
  return decision;
}

bool may_be_overtaken(const analyzer::Profile& profile) {
  if (profile.interval.slowest_part > analyzer::kMostInSlowest) {
    return true;
  }
  return std::ranges::any_of(profile.factors, [&](const Factor& factor) {
    return !factor.significant && factor.weight >= profile.threshold &&
           factor.specificity * factor.weight > profile.factors.front().score;
  });
}

bool goes_deeper(const analyzer::Profile& profile, const Program& program, const State& state,
                 const analyzer::Options& options) {
  Decision decision;
  std::vector<const Factor*> certain = undecided(profile, state);
  std::erase_if(certain,
                [&](const Factor* factor) { return factor->share_ci95[0] < profile.threshold; });
  expand_first(static_cast<size_t>(options.k), FactorKind::kVariance, decision, profile, certain,
               program, state);
  return !decision.expand.empty();
}

}  // namespace vprof::driver
