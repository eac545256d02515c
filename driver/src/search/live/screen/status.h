// What a live search knows, for its screen.
#pragma once

#include "search/policy.h"
#include "vprof/report/live_screen.h"

namespace vprof::driver {

/// The figures of an epoch.
/// @param seconds how long it has taken
report::LiveFigures figures_of(const analyzer::Profile& profile, int iteration, double seconds);

/// Ids of the factors that can be broken down, among the first ones.
std::vector<std::string> expandable(const analyzer::Profile& profile,
                                    const instrumenter::Program& program, const State& state);

/// What is known about factors beyond their profile: ids.
struct FactorNotes {
  std::vector<std::string> expandable;
  std::vector<std::string> next;  ///< are broken down next, because the user wants that
};

/// The factors by rank, with what was decided on them.
std::vector<report::LiveFactor> factors_of(const analyzer::Profile& profile, const State& state,
                                           const FactorNotes& notes);

/// The factor with this id; null: there is none.
const analyzer::Factor* factor_with(const analyzer::Profile& profile, const std::string& id);

}  // namespace vprof::driver
