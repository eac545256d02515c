// How much measuring slows the program down, and what to do about it.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// Runs the workload with all sites off, so that only intervals are recorded, and keeps the
/// latencies in the state. `keep_trace` leaves the recording in iterations/N/baseline.
Result<void> baseline_step(Session& session, bool keep_trace);

/// Compares the latencies of the current iteration with the baseline and fills in
/// `profile.overhead` and the state. If the difference is certainly beyond `overhead_budget`:
/// - a baseline of an earlier iteration is measured again first, since machines change;
/// - call sites are then marked to be left out of the next plan.
/// Error: the baseline run failed.
Result<void> judge_overhead(Session& session, analyzer::Profile& profile, bool keep_trace);

/// Whether to measure once more with a thinner plan although there is nothing to expand: the marked
/// call sites would save at least half of the excess over the budget.
bool worth_thinning(const Session& session, const analyzer::Profile& profile);

}  // namespace vprof::driver
