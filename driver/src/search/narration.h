// What the loop tells the user while it runs.
#pragma once

#include <string>
#include <vector>

#include "pipeline/steps.h"
#include "workspace/session.h"

namespace vprof::driver {

/// `expanding f and g; 41 new call sites; leaving out 2 call sites; rebuilding 3 files`, and how
/// many calls are measured.
/// @param expanding what is expanded, in words; empty: the functions of the current iteration
void say_instrumented(const State& state, const Instrumented& instrumented,
                      const std::vector<std::string>& expanding);

/// The latency, and the first k factors.
void say_measured(const analyzer::Profile& profile);

}  // namespace vprof::driver
