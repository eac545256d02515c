// How much measuring changes the program, and what is done about it.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// Runs the workload with all sites off, so that only intervals are recorded, and keeps what their
/// latencies were in the state. `keep_trace` leaves the recording in iterations/N/baseline.
Result<void> baseline_step(Session& session, bool keep_trace);

/// Compares a profile of the current iteration with the baseline. If they differ for certain by
/// more than the budget (`overhead_budget`), the baseline of an earlier iteration is measured anew,
/// since machines change; if the latency is beyond it then, call sites are marked to be left out of
/// the next plan. Fills `profile.overhead` and the state. Error: of the baseline run.
Result<void> judge_overhead(Session& session, analyzer::Profile& profile, bool keep_trace);

/// Whether the search, though it has nothing to expand, should measure once more with a thinner
/// plan: what was marked would save at least half of what is beyond the budget.
bool worth_thinning(const Session& session, const analyzer::Profile& profile);

}  // namespace vprof::driver
