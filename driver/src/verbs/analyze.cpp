// `vprof analyze`: ranks the factors of a recording, that of this iteration or one from elsewhere.
#include <cstdlib>
#include <map>

#include "pipeline/analysis.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/runtime/frontier.h"

namespace vprof::driver {

namespace {

/// `2s` or `300ms` in ns; an empty text is 0.
Result<int64_t> duration_of(const std::string& text) {
  if (text.empty()) {
    return 0;
  }
  char* unit = nullptr;
  const double value = std::strtod(text.c_str(), &unit);
  const std::map<std::string, double> units = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const auto found = units.find(unit);
  if (found == units.end() || !(value >= 0) || value * found->second > 9e18) {
    return fail("--skip {}: not a time; write one like 2s or 300ms", text);
  }
  return static_cast<int64_t>(value * found->second);
}

/// Makes this the analysis of the current iteration.
Result<void> keep(Session& session, const analyzer::Profile& profile) {
  State& state = session.state;
  if (!state.history.empty()) {
    report::Iteration& current = state.history.back();
    current.mean_ns = profile.interval.mean_ns;
    current.variance_ns2 = profile.interval.variance_ns2;
    if (profile.overhead.baseline_mean_ns > 0) {
      current.mean_ratio = profile.overhead.mean_ratio;
      current.variance_ratio = profile.overhead.variance_ratio;
    }
  }
  state.step = Step::kDecide;
  VPROF_TRY(save_profile(session, profile));
  VPROF_TRY(write_report(session, profile));
  return session.save();
}

}  // namespace

Result<int> verb_analyze(const Global& global, const AnalyzeOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  session.config.factors.interval = options.interval;
  session.config.factors.threads = options.threads;
  session.config.factors.skip_ns = VPROF_TRY(duration_of(options.skip));
  const bool own = options.trace.empty();
  const fs::path trace =
      own ? session.workspace.trace(session.state.iteration) : fs::path(options.trace);
  VPROF_TRY(check_recording(trace));
  if (std::error_code error; fs::exists(trace / VPROF_FRONTIER_NAME, error)) {
    return fail(
        "{} is of a live run, in which what is measured changed; `vprof report` has the "
        "result of its last epoch, `vprof timeline` shows single intervals",
        shown(trace));
  }
  auto analyzed = analyze_trace(session, trace);
  if (!analyzed && analyzed.error().kind == ErrorKind::kNoInterval && !options.skip.empty()) {
    return fail("--skip {}: no interval that was completed began later than that", options.skip);
  }
  auto profile = VPROF_TRY(std::move(analyzed));
  if (own) {
    VPROF_TRY(keep(session, profile));
  }
  if (!options.profile.empty()) {
    VPROF_TRY(write_result(options.profile, profile.bytes));
    remember_output(session.workspace, session.config.source, options.profile);
  }
  mark_decisions(profile, session.state);
  const report::ReportContext context = context_of(session, trace / "sites.json", trace);
  if (options.json) {
    say_verbatim(report::json_text(profile, context));
    return 0;
  }
  VPROF_TRY(say_with_links(report::text(profile, context, report::text_options()),
                           session.config.source));
  return 0;
}

}  // namespace vprof::driver
