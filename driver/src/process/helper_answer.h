// Asks a helper of ours that answers with one line of JSON on standard output.
#pragma once

#include <string>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::driver {

/// Runs the helper to its end, also beside a RunningCommand, and returns `written` of its answer.
/// @param stoppable whether an interruption of vprof ends it
/// Error: `error` of its answer; or it could not be started, or ended without an answer;
/// kInterrupted.
Result<std::string> ask_helper(const std::vector<std::string>& argv, bool stoppable);

}  // namespace vprof::driver
