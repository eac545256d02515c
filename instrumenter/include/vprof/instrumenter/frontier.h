// An armed program contains the sites of nearly every call, most of them off. This tells which of
// them a plan would have put there alone: those to switch on.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"
#include "vprof/instrumenter/sites.h"

namespace vprof::instrumenter {

/// What sites.json would say after a rewrite by `plan`, with the numbers that the sites have in the
/// armed program. For a scope that is not armed stand the sites of all calls of its function. A
/// call that is not armed is left out and listed as unwrapped.
/// @param armed sites.json of the plan that the program was built with
/// @param mirror, pristine as for `vprof-instrument rewrite`
/// Error: the plan names a function that is not in the program, or a file has changed since.
Result<SitesFile> sites_of_frontier(const Program& program, const Plan& plan,
                                    const SitesFile& armed, const std::string& mirror,
                                    const std::string& pristine);

/// The numbers of the sites of a frontier and of the gates before them, in order.
/// @param armed sites.json of the plan that the program was built with
std::vector<uint32_t> numbers_to_switch_on(const SitesFile& frontier, const SitesFile& armed);

}  // namespace vprof::instrumenter
