#include "search/overhead.h"

#include <algorithm>

#include "pipeline/analysis.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "search/thin.h"
#include "vprof/analyzer/overhead.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// Part of the latency by which measuring is surely beyond the budget; 0 or less: it is not.
double excess(const Session& session, const analyzer::Profile& profile) {
  return analyzer::sure_overhead(profile.overhead) - session.config.overhead_budget;
}

std::string in_words(const analyzer::Overhead& overhead) {
  return fmt::format("measuring makes the median latency {:.2f} and the mean {:.2f} times as large",
                     overhead.median_ratio, overhead.mean_ratio);
}

void take_over(State& state, const analyzer::Overhead& overhead) {
  if (state.history.empty() || overhead.baseline_mean_ns <= 0) {
    return;
  }
  state.history.back().mean_ratio = overhead.mean_ratio;
  state.history.back().variance_ratio = overhead.variance_ratio;
}

Result<void> thin(Session& session, const analyzer::Profile& profile) {
  State& state = session.state;
  const fs::path trace = session.workspace.trace(state.iteration);
  const auto sites = VPROF_TRY(read_json(trace / "sites.json"));
  const auto calls = VPROF_TRY(analyzer::count_calls(trace.string(), session.config.factors));
  const Thinning thinning = thin_plan(profile, sites, calls, state, excess(session, profile));
  state.demoted.insert(state.demoted.end(), thinning.demoted.begin(), thinning.demoted.end());
  const std::string what =
      fmt::format("{}, beyond the budget of {:.0f} %", in_words(profile.overhead),
                  100 * session.config.overhead_budget);
  if (thinning.demoted.empty()) {
    say(what + "; no call site that matters little costs enough to be left out");
  } else {
    say(fmt::format("{}; the next plan leaves out {} called often and of little variance", what,
                    counted(thinning.demoted.size(), "call site")));
  }
  return {};
}

}  // namespace

Result<void> baseline_step(Session& session, bool keep_trace) {
  const Recording recording = recording_of(session, /*sites=*/false);
  VPROF_TRY(record_step(session, recording));
  auto summary = VPROF_TRY(baseline_summary(session, recording.trace));
  session.state.baseline = std::move(summary);
  session.state.baseline_iteration = session.state.iteration;
  if (!keep_trace) {
    VPROF_TRY(remove_tree(recording.trace));
  }
  return session.save();
}

Result<void> judge_overhead(Session& session, analyzer::Profile& profile, bool keep_trace) {
  State& state = session.state;
  // Marks of an earlier analysis of this iteration are made anew.
  std::erase_if(state.demoted,
                [&](const report::Demoted& one) { return one.since > state.iteration; });
  // That they differ by so much in either direction may be the machine's doing rather than ours.
  if (analyzer::surely_differs(profile.overhead, session.config.overhead_budget) &&
      state.baseline_iteration != state.iteration) {
    say(fmt::format("{}; running without recording again, to compare with the machine as it is now",
                    in_words(profile.overhead)));
    VPROF_TRY(baseline_step(session, keep_trace));
    analyzer::compare_with_baseline(profile.interval, state.baseline, profile.overhead);
  }
  take_over(state, profile.overhead);
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
