// `vprof analyze`: from a recording, this iteration's or one from elsewhere, to ranked factors.
#include "analysis.h"
#include "commands.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

namespace {

/// A recording brought from another machine carries its sites.json; one of our own may have lost
/// it.
Result<void> check_recording(const fs::path& trace) {
  std::error_code error;
  if (!fs::is_directory(trace, error))
    return fail("there is no recording {}; `vprof record` makes one", shown(trace));
  if (!fs::exists(trace / "sites.json", error)) {
    return fail(
        "{} holds no sites.json, which says what the numbers in a trace mean; copy it from where "
        "the program was built",
        shown(trace));
  }
  return {};
}

Result<void> take_over(Session& session, const analyzer::Profile& profile) {
  State& state = session.state;
  if (!state.history.empty()) {
    state.history.back().mean_ns = profile.interval.mean_ns;
    state.history.back().variance_ns2 = profile.interval.variance_ns2;
  }
  state.step = Step::kDecide;
  if (auto written = write_report(session, profile); !written) return written;
  return session.save();
}

}  // namespace

Result<int> verb_analyze(const Global& global, const AnalyzeOptions& options) {
  auto session = open_session(global.config, Access::kWrite);
  if (!session) return tl::unexpected(session.error());
  session->config.factors.interval = options.interval;
  const bool own = options.trace.empty();
  const fs::path trace =
      own ? session->workspace.trace(session->state.iteration) : fs::path(options.trace);
  if (auto checked = check_recording(trace); !checked) return tl::unexpected(checked.error());
  auto profile = analyze_trace(*session, trace);
  if (!profile) return tl::unexpected(profile.error());
  if (own) {
    if (auto taken = take_over(*session, *profile); !taken) return tl::unexpected(taken.error());
  }
  overlay_decisions(*profile, session->state);
  const report::Story story = story_of(session->state, trace / "sites.json");
  say(options.json ? report::json(*profile, story).dump(1)
                   : report::text(*profile, story, text_options()));
  return 0;
}

}  // namespace vprof::driver
