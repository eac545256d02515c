// `vprof record`: runs a workload and records it.
#include "pipeline/analysis.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_record(const Global& global, const RecordOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  std::error_code error;
  if (!fs::exists(session.workspace.sites(), error)) {
    return fail(
        "nothing is instrumented yet; run `vprof index`, `vprof instrument` and `vprof build` "
        "first");
  }
  VPROF_TRY(check_place(session));
  VPROF_TRY(make_directories(session.workspace.iteration(session.state.iteration)));
  WorkloadRun run = workload_run(session, options.baseline ? Sites::kOff : Sites::kOn);
  if (!options.command.empty()) {
    run.argv = options.command;
    run.usual_s = 0;
  }
  const double seconds = VPROF_TRY(record_step(session, run));
  State& state = session.state;
  if (options.baseline) {
    state.baseline = baseline_of(VPROF_TRY(baseline_profile(session, run.trace)), state.iteration);
    state.baseline.run_s = seconds;
    state.baseline.command = command_of(run);
    VPROF_TRY(session.save());
  } else if (!state.history.empty()) {
    state.history.back().run_s = seconds;
    state.step = Step::kAnalyze;
    VPROF_TRY(session.save());
  }
  say(fmt::format("recorded {:.1f} s into {}", seconds, shown(run.trace)));
  return 0;
}

}  // namespace vprof::driver
