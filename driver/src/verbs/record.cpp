// `vprof record`: runs a workload with the runtime switched on.
#include "pipeline/analysis.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_record(const Global& global, const std::vector<std::string>& command,
                        bool baseline) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  std::error_code error;
  if (!fs::exists(session.workspace.sites(), error)) {
    return fail(
        "nothing is instrumented yet; run `vprof index`, `vprof instrument` and `vprof build` "
        "first");
  }
  VPROF_TRY(make_directories(session.workspace.iteration(session.state.iteration)));
  Recording recording = recording_of(session, !baseline);
  if (!command.empty()) {
    recording.argv = command;
  }
  auto seconds = VPROF_TRY(record_step(session, recording));
  if (baseline) {
    auto summary = VPROF_TRY(baseline_summary(session, recording.trace));
    session.state.baseline = std::move(summary);
    session.state.baseline_iteration = session.state.iteration;
    VPROF_TRY(session.save());
  } else if (!session.state.history.empty()) {
    session.state.history.back().run_s = seconds;
    session.state.step = Step::kAnalyze;
    VPROF_TRY(session.save());
  }
  say(fmt::format("recorded {:.1f} s into {}", seconds, shown(recording.trace)));
  return 0;
}

}  // namespace vprof::driver
