// From a recording to a profile.
#pragma once

#include <string>

#include "workspace/session.h"

namespace vprof::driver {

/// Whether there is a recording, with its sites.json, which one from another machine may lack.
Result<void> check_recording(const fs::path& trace);

/// Analyses one recording and compares its latencies with the baseline of the state. Error: one
/// line; if no interval was completed, no_interval_message().
Result<analyzer::Profile> analyze_trace(const Session& session, const fs::path& trace);

/// A baseline recording: latencies with their confidence intervals, and processor time.
Result<analyzer::Profile> baseline_profile(const Session& session, const fs::path& trace);

/// Why a workload may have completed no interval: the functions that should have begun and ended
/// it, with their place in vprof.json.
std::string no_interval_message(const Config& config);

}  // namespace vprof::driver
