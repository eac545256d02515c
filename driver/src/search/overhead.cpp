#include "search/overhead.h"

#include <algorithm>

#include "pipeline/analysis.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "search/thinning.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// By how much measuring is certainly beyond the budget, as a fraction of the latency. 0 or less:
/// it is not.
double excess(const Session& session, const analyzer::Profile& profile) {
  return analyzer::sure_overhead(profile.overhead) - session.config.overhead_budget;
}

std::string ratios_in_words(const analyzer::Overhead& overhead) {
  return fmt::format("measuring makes the median latency {:.2f} and the mean {:.2f} times as large",
                     overhead.median_ratio, overhead.mean_ratio);
}

void keep_ratios(State& state, const analyzer::Overhead& overhead) {
  if (state.history.empty() || overhead.baseline_mean_ns <= 0) {
    return;
  }
  state.history.back().mean_ratio = overhead.mean_ratio;
  state.history.back().variance_ratio = overhead.variance_ratio;
}

Result<void> thin(Session& session, const analyzer::Profile& profile) {
  State& state = session.state;
  const fs::path trace = session.workspace.trace(state.iteration);
  const auto sites = VPROF_TRY(instrumenter::load_sites((trace / "sites.json").string()));
  const auto calls = VPROF_TRY(analyzer::count_calls(trace.string(), session.config.factors));
  const Thinning thinning = thin_plan(profile, sites, calls, state, excess(session, profile));
  state.demoted.insert(state.demoted.end(), thinning.demoted.begin(), thinning.demoted.end());
  const std::string what =
      fmt::format("{}, beyond the budget of {:.0f} %", ratios_in_words(profile.overhead),
                  100 * session.config.overhead_budget);
  if (thinning.demoted.empty()) {
    say(what + "; no call that varies little costs enough to leave out");
  } else {
    say(fmt::format("{}; the next plan leaves out {} called often and varying little", what,
                    counted(thinning.demoted.size(), "call site")));
  }
  return {};
}

}  // namespace

Result<void> baseline_step(Session& session, bool keep_trace) {
  const WorkloadRun run = workload_run(session, Sites::kOff);
  const double seconds = VPROF_TRY(record_step(session, run));
  session.state.baseline =
      baseline_of(VPROF_TRY(baseline_summary(session, run.trace)), session.state.iteration);
  session.state.baseline.run_s = seconds;
  session.state.baseline.command = command_of(run);
  if (!keep_trace) {
    VPROF_TRY(remove_tree(run.trace));
  }
  return session.save();
}

Result<void> judge_overhead(Session& session, analyzer::Profile& profile, bool keep_trace) {
  State& state = session.state;
  // An earlier analysis of this iteration may have marked call sites already.
  std::erase_if(state.demoted,
                [&](const report::Demoted& one) { return one.since > state.iteration; });
  // The machine may have changed: it can explain a large difference in either direction.
  if (analyzer::surely_differs(profile.overhead, session.config.overhead_budget) &&
      state.baseline.iteration != state.iteration) {
    say(fmt::format("{}; running again without recording, to compare with the machine as it is now",
                    ratios_in_words(profile.overhead)));
    VPROF_TRY(baseline_step(session, keep_trace));
    analyzer::compare_with_baseline(profile.interval, state.baseline.latencies(), profile.overhead);
  }
  keep_ratios(state, profile.overhead);
  if (excess(session, profile) <= 0) {
    return {};
  }
  return thin(session, profile);
}

bool worth_thinning(const Session& session, const analyzer::Profile& profile) {
  double saved = 0;
  for (const report::Demoted& one : session.state.demoted) {
    if (one.since > session.state.iteration) {
      saved += one.cost;
    }
  }
  return saved > 0 && saved >= excess(session, profile) / 2;
}

}  // namespace vprof::driver
