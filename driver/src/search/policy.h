// What to do with the ranked factors (Algorithm 3, lines 9 to 20): expand, accept as an answer, or
// leave.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/state.h"

namespace vprof::driver {

struct Decision {
  /// Keys of the functions to be broken down in the next iteration; empty: the search ends.
  std::vector<std::string> expand;
  std::vector<std::string> why;   ///< `f (72 % of the variance)`: the factors that they come from
  std::vector<Decided> selected;  ///< accepted as answers
  std::vector<Decided> set_aside;
  bool quit = false;  ///< the user wants to go on later
};

/// `f (72 % of the variance)`.
std::string expansion_reason(const analyzer::Factor& factor);

/// Keys of the functions of a factor that can be broken down and were not yet. A wait for threads
/// of which nothing is measured (`untracked(worker)`, at least the threshold) is broken down by
/// measuring where threads begin, so that the search goes on in those; a library function by
/// measuring the functions handed to it.
std::vector<std::string> expandable_keys(const analyzer::Profile& profile,
                                         const analyzer::Factor& factor,
                                         const instrumenter::Program& program, const State& state);

/// The ranked factors that deserve a decision: contribution at least the threshold, not expanded,
/// not decided.
std::vector<const analyzer::Factor*> undecided(const analyzer::Profile& profile,
                                               const State& state);

/// The policy of `--auto`: of the undecided factors the first k variance factors that can be
/// expanded, in order of rank; if there is none, the functions of the covariance factors that can.
/// Leaves among the first k ranked factors are answers.
Decision decide_automatically(const analyzer::Profile& profile,
                              const instrumenter::Program& program, const State& state,
                              const analyzer::Options& options);

}  // namespace vprof::driver
