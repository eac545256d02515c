// `vprof record`: runs a workload with the runtime switched on.
#include "analysis.h"
#include "commands.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_record(const Global& global, const std::vector<std::string>& command,
                        bool baseline) {
  auto session = open_session(global.config, Access::kWrite);
  if (!session) return tl::unexpected(session.error());
  std::error_code error;
  if (!fs::exists(session->workspace.sites(), error)) {
    return fail(
        "nothing is instrumented yet; run `vprof index`, `vprof instrument` and `vprof build` "
        "first");
  }
  if (auto made = make_directories(session->workspace.iteration(session->state.iteration)); !made)
    return tl::unexpected(made.error());
  Recording recording = recording_of(*session, !baseline);
  if (!command.empty()) recording.argv = command;
  auto seconds = record_step(*session, recording);
  if (!seconds) return tl::unexpected(seconds.error());
  if (baseline) {
    auto summary = baseline_summary(*session, recording.trace);
    if (!summary) return tl::unexpected(summary.error());
    session->state.baseline = std::move(*summary);
    session->state.baseline_iteration = session->state.iteration;
    if (auto saved = session->save(); !saved) return tl::unexpected(saved.error());
  } else if (!session->state.history.empty()) {
    session->state.history.back().run_s = *seconds;
    session->state.step = Step::kAnalyze;
    if (auto saved = session->save(); !saved) return tl::unexpected(saved.error());
  }
  say(fmt::format("recorded {:.1f} s into {}", *seconds, shown(recording.trace)));
  return 0;
}

}  // namespace vprof::driver
