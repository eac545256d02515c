// What a live search knows, for its screen.
#pragma once

#include "search/policy.h"
#include "vprof/report/live_screen.h"

namespace vprof::driver {

/// The figures of an epoch.
/// @param seconds how long it has taken
report::LiveFigures figures_of(const analyzer::Profile& profile, int iteration, double seconds);

/// The factors by rank, with what was decided on them. `next`: names of those that are broken down
/// next, because the user wants that.
std::vector<report::LiveFactor> factors_of(const analyzer::Profile& profile, const State& state,
                                           const std::vector<std::string>& next);

/// The factor with this id; null: there is none.
const analyzer::Factor* factor_with(const analyzer::Profile& profile, const std::string& id);

}  // namespace vprof::driver
