#include "search/live/live_run.h"

#include <charconv>

#include "pipeline/own_use/low_priority.h"
#include "pipeline/steps.h"
#include "process/commands.h"

namespace vprof::driver {

namespace {

/// The process that the user named; 0: a directory.
pid_t process_named(const std::string& text) {
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pid);
  return error == std::errc() && end == text.data() + text.size() ? pid : 0;
}

Command live_command(const Session& session, const fs::path& trace, uint64_t ring_mb) {
  WorkloadRun run = workload_run(session, Sites::kOn);
  run.trace = trace;
  run.log = session.workspace.live() / "run.log";
  Command command = workload_command(session, run);
  if (ring_mb != 0) {
    command.environment["VPROF_RING_MB"] = std::to_string(ring_mb);
  } else if (command.environment.erase("VPROF_RING_MB") != 0) {
    warn(
        "record.ring_mb does not apply to `vprof live`: what is measured is read while it is "
        "written");
  }
  return command;
}

}  // namespace

void LiveRun::leave() {
  frontier->pause();
  const auto left = target->leave();
  if (!left && left.error().kind != ErrorKind::kInterrupted) {
    warn(left.error().message);
  }
}

Result<LiveRun> begin_live_run(Session& session, const std::string& attach, uint64_t ring_mb) {
  LiveRun run;
  session.config.factors.threads = 1;  // the other processors are the program's
  if (!attach.empty()) {
    const pid_t pid = process_named(attach);
    run.trace = pid != 0 ? VPROF_TRY(trace_of_process(pid)) : fs::path(attach);
    run.frontier = VPROF_TRY(FrontierFile::take(run.trace));
    run.armed = VPROF_TRY(at_low_priority([&] { return armed_before(session); }));
    run.frontier->keep_on(run.armed.sites.event_gates);
    run.target = running_target(run.trace, pid);
    return run;
  }
  run.armed = VPROF_TRY(arm(session));
  run.trace = session.workspace.live_run();
  VPROF_TRY(clear_trace_directory(run.trace));
  VPROF_TRY(make_frontier_file(run.trace));
  run.frontier = VPROF_TRY(FrontierFile::take(run.trace));
  run.frontier->keep_on(run.armed.sites.event_gates);
  run.target = VPROF_TRY(start_target(live_command(session, run.trace, ring_mb)));
  return run;
}

}  // namespace vprof::driver
