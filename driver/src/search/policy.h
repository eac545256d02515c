// What to do with the ranked factors (Algorithm 3, lines 12 to 20): break them down, mark them as
// selected, or leave them alone.
#pragma once

#include <string>
#include <vector>

#include "search/common_callee.h"
#include "vprof/instrumenter/program.h"
#include "workspace/state.h"

namespace vprof::driver {

struct Decision {
  /// Keys of the functions to expand in the next iteration. Empty: the search ends.
  std::vector<std::string> expand;
  /// Those of them to look ahead from. What leads to a wait is known to its end.
  std::vector<std::string> open_ended;
  /// The factors that those come from: `f (72 % of the variance)`.
  std::vector<std::string> why;
  std::vector<DecidedFactor> selected;  ///< accepted as answers
  std::vector<DecidedFactor> set_aside;
  bool quit = false;  ///< the user stops for now
};

/// Breaks `factor` down in the next iteration by expanding the functions `keys`. Does nothing if
/// other factors expand all of them already.
void expand(Decision& decision, const analyzer::Factor& factor,
            const std::vector<std::string>& keys);

/// Expands all callers: a function that is called from many places is looked for under all of them.
/// Does nothing if there is no such function.
void expand_callers(Decision& decision, const CommonCallee& callee);

/// The ranked factors that still need a decision: they weigh at least the threshold, and were
/// neither expanded nor decided on.
std::vector<const analyzer::Factor*> undecided(const analyzer::Profile& profile,
                                               const State& state);

/// The policy of `--auto`. Expands the first k undecided variance factors that can be broken down,
/// by rank; if there are none, the functions of the covariance factors that can; if there are none
/// either, functions that are too small each but call one function and together are not. Selects
/// the variance factors among the first k significant undecided ones that cannot be broken down.
Decision decide_automatically(const analyzer::Profile& profile,
                              const instrumenter::Program& program, const State& state,
                              const analyzer::Options& options);

/// Whether a factor that may be chance would come before the first one if it were not, or a few
/// intervals decide.
bool may_be_overtaken(const analyzer::Profile& profile);

/// Whether the policy breaks something down whatever further intervals show: a variance factor
/// whose share is certainly (95 %) at or above the threshold.
bool goes_deeper(const analyzer::Profile& profile, const instrumenter::Program& program,
                 const State& state, const analyzer::Options& options);

}  // namespace vprof::driver
