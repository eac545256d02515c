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

using analyzer::Profile;
using report::Demoted;

/// What thinning aims at, as a part of the budget: the cost is an estimate, and the next plan
/// should not be just beyond the budget again.
constexpr double kAim = 0.8;

/// A thinner plan is worth another run if it saves this part of what is beyond the budget.
constexpr double kWorthwhile = 0.25;

/// By how much recording is beyond the budget, as a part of the time that the program is busy. 0 or
/// less: it is not.
double excess(const Session& session, const Profile& profile) {
  return analyzer::measuring_cost(profile.overhead) - session.config.overhead_budget;
}

void keep_ratios(State& state, const analyzer::Overhead& overhead) {
  if (state.history.empty() || overhead.baseline_mean_ns <= 0) {
    return;
  }
  state.history.back().mean_ratio = overhead.mean_ratio;
  state.history.back().variance_ratio = overhead.variance_ratio;
}

/// Leaves out what is called often and varies little. `heavy` is left out already.
void thin(Session& session, const Profile& profile, const instrumenter::SitesFile& sites,
          const std::vector<uint64_t>& calls, const std::vector<Demoted>& heavy) {
  State& state = session.state;
  const double cost = analyzer::measuring_cost(profile.overhead);
  const double budget = session.config.overhead_budget;
  if (cost <= budget) {
    return;
  }
  const Thinning thinning = thin_plan(profile, sites, calls, state, cost - kAim * budget, heavy);
  state.demoted.insert(state.demoted.end(), thinning.demoted.begin(), thinning.demoted.end());
  const bool pauses = profile.overhead.recorded_part < 1;  // so the program keeps to the budget
  if (pauses && thinning.demoted.empty()) {
    return;
  }
  constexpr double kJustBeyond = 0.0005;  // what one decimal would not tell
  std::string text = fmt::format(
      "recording adds {:.{}f} % to the time that the program is busy{}, beyond the budget of {:g} "
      "%",
      100 * cost, cost - budget < kJustBeyond ? 2 : 1, pauses ? ", while it is on" : "",
      100 * budget);
  if (!thinning.demoted.empty()) {
    text += fmt::format("; the next plan leaves out {} called often and varying little",
                        counted(thinning.demoted.size(), "call site"));
  }
  if (cost - thinning.saved > budget && !pauses) {
    text += fmt::format(
        "; {:.1f} % would remain, of calls that make up {:.0f} % of the variance or more",
        100 * (cost - thinning.saved), 100 * profile.threshold);
  }
  say(text);
}

/// Leaves out what costs by its presence. All others are left out already.
void lighten(State& state, const Profile& profile, const instrumenter::SitesFile& sites,
             const std::vector<uint64_t>& calls) {
  const std::vector<Demoted> found = burdens(profile, sites, calls, state);
  if (!found.empty()) {
    say(
        fmt::format("the next plan also leaves out {} in functions that are called often and not "
                    "measured any more: their mere presence costs",
                    counted(found.size(), "call site")));
  }
  state.demoted.insert(state.demoted.end(), found.begin(), found.end());
}

void say_heavy(const std::vector<Demoted>& heavy) {
  if (heavy.empty()) {
    return;
  }
  const Demoted& worst = *std::ranges::max_element(heavy, {}, &Demoted::cost);
  say(
      fmt::format("in {}, {} is called {} times each, and recording that adds {:.0f} % to their "
                  "latency; the next plan leaves out {} of this kind",
                  worst.heavy_in, worst.function, worst.calls, 100 * worst.cost,
                  counted(heavy.size(), "call site")));
}

}  // namespace

Result<void> baseline_step(Session& session, bool keep_trace) {
  const WorkloadRun run = workload_run(session, Sites::kOff);
  const double seconds = VPROF_TRY(record_step(session, run));
  session.state.baseline =
      baseline_of(VPROF_TRY(baseline_profile(session, run.trace)), session.state.iteration);
  session.state.baseline.run_s = seconds;
  session.state.baseline.command = command_of(run);
  if (!keep_trace) {
    VPROF_TRY(remove_tree(run.trace));
  }
  return session.save();
}

Result<void> judge_overhead(Session& session, const Profile& profile,
                            const MeasuredTrace& recording) {
  State& state = session.state;
  // An earlier analysis of this iteration may have marked call sites already.
  std::erase_if(state.demoted, [&](const Demoted& one) { return one.since > state.iteration; });
  keep_ratios(state, profile.overhead);
  const auto sites = VPROF_TRY(instrumenter::load_sites(recording.sites_json.string()));
  const std::vector<Demoted> heavy =
      heavy_sites(profile, sites, state, session.config.overhead_budget);
  say_heavy(heavy);
  const bool beyond = analyzer::measuring_cost(profile.overhead) > session.config.overhead_budget;
  if (!beyond && heavy.empty() && state.demoted.empty()) {
    return {};
  }
  const auto calls = VPROF_TRY(analyzer::count_calls(recording.trace.string(), recording.options));
  thin(session, profile, sites, calls, heavy);
  state.demoted.insert(state.demoted.end(), heavy.begin(), heavy.end());
  lighten(state, profile, sites, calls);
  return {};
}

Result<bool> thin_at_once(Session& session, const Profile& profile,
                          const MeasuredTrace& recording) {
  VPROF_TRY(judge_overhead(session, profile, recording));
  State& state = session.state;
  uint64_t thinned = 0;
  for (Demoted& one : state.demoted) {
    if (one.since > state.iteration) {
      one.since = state.iteration;
      ++thinned;
    }
  }
  state.history.back().demoted += thinned;
  VPROF_TRY(session.save());
  return thinned != 0;
}

bool worth_thinning(const Session& session, const Profile& profile) {
  double saved = 0;
  bool distorted = false;
  for (const Demoted& one : session.state.demoted) {
    if (one.since > session.state.iteration) {
      saved += one.heavy_in.empty() ? one.cost : 0;
      distorted = distorted || !one.heavy_in.empty();
    }
  }
  return distorted || (saved > 0 && saved >= excess(session, profile) * kWorthwhile);
}

}  // namespace vprof::driver
