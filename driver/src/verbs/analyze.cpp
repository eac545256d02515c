// `vprof analyze`: from a recording, this iteration's or one from elsewhere, to ranked factors.
#include <cstdlib>
#include <map>

#include "pipeline/analysis.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

namespace {

/// A recording brought from another machine carries its sites.json; one of our own may have lost
/// it.
Result<void> check_recording(const fs::path& trace) {
  std::error_code error;
  if (!fs::is_directory(trace, error)) {
    return fail("there is no recording {}; `vprof record` makes one", shown(trace));
  }
  if (!fs::exists(trace / "sites.json", error)) {
    return fail(
        "{} holds no sites.json, which says what the numbers in a trace mean; copy it from where "
        "the program was built",
        shown(trace));
  }
  return {};
}

/// ns of `2s`, `300ms`; 0 of nothing.
Result<int64_t> duration_of(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  char* unit = nullptr;
  const double value = std::strtod(text.c_str(), &unit);
  const std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto found = units.find(unit);
  if (found == units.end() || !(value >= 0) || value * found->second > 9e18) {
    return fail("--skip {}: a time is like 2s or 300ms", text);
  }
  return static_cast<int64_t>(value * found->second);
}

Result<void> take_over(Session& session, const analyzer::Profile& profile) {
  State& state = session.state;
  if (!state.history.empty()) {
    state.history.back().mean_ns = profile.interval.mean_ns;
    state.history.back().variance_ns2 = profile.interval.variance_ns2;
    if (profile.overhead.baseline_mean_ns > 0) {
      state.history.back().mean_ratio = profile.overhead.mean_ratio;
      state.history.back().variance_ratio = profile.overhead.variance_ratio;
    }
  }
  state.step = Step::kDecide;
  VPROF_TRY(write_report(session, profile));
  return session.save();
}

}  // namespace

Result<int> verb_analyze(const Global& global, const AnalyzeOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  session.config.factors.interval = options.interval;
  session.config.factors.threads = options.threads;
  const auto skip = VPROF_TRY(duration_of(options.skip));
  session.config.factors.skip_ns = skip;
  const bool own = options.trace.empty();
  const fs::path trace =
      own ? session.workspace.trace(session.state.iteration) : fs::path(options.trace);
  VPROF_TRY(check_recording(trace));
  auto profile = VPROF_TRY(analyze_trace(session, trace));
  if (own) {
    VPROF_TRY(take_over(session, profile));
  }
  if (!options.profile.empty()) {
    VPROF_TRY(write_file_atomic(options.profile, profile.sums));
  }
  overlay_decisions(profile, session.state);
  const report::Story story = story_of(session, trace / "sites.json");
  say(options.json ? report::json_text(profile, story)
                   : report::text(profile, story, text_options()));
  return 0;
}

}  // namespace vprof::driver
