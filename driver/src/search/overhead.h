// How much measuring slows the program down, and what to do about it.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// Runs the workload with all sites off, so that only intervals are recorded, and keeps latencies
/// and processor time in the state. `keep_trace` leaves the recording in iterations/N/baseline.
Result<void> baseline_step(Session& session, bool keep_trace);

/// A recording, and what its sites mean.
struct MeasuredTrace {
  fs::path trace;
  fs::path sites_json;
  analyzer::Options options;  ///< of the analysis
};

/// Marks call sites to be left out of the next plan: those that take too much of the intervals in
/// which they are passed many times, and if recording adds more than `overhead_budget` to the time
/// that the program is busy, those that are passed often and vary little. Error: the recording or
/// its sites.json cannot be read.
Result<void> judge_overhead(Session& session, const analyzer::Profile& profile,
                            const MeasuredTrace& recording);

/// The same for a program whose sites can be switched while it runs: what is too expensive is left
/// out of this iteration. Returns whether there was any.
Result<bool> thin_at_once(Session& session, const analyzer::Profile& profile,
                          const MeasuredTrace& recording);

/// Whether to measure once more with a thinner plan although there is nothing to expand: intervals
/// were distorted, or the marked call sites save at least a quarter of the excess over the budget.
bool worth_thinning(const Session& session, const analyzer::Profile& profile);

}  // namespace vprof::driver
