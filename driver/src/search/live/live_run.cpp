#include "search/live/live_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "pipeline/analysis.h"
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

/// Error: a process runs what was built before. The sites of the new build are others.
Result<void> check_build(const Session& session, const fs::path& trace, pid_t pid) {
  std::vector<pid_t> processes = recording_processes(trace);
  if (pid != 0) {
    processes.push_back(pid);
  }
  for (const pid_t one : processes) {
    const std::string file = replaced_file(one, session.workspace.mirror());
    if (!file.empty()) {
      return fail(
          "process {} runs a {} that is not there any more: it was built again since; "
          "start the program again",
          one, shown(file));
    }
  }
  return {};
}

}  // namespace

Result<void> LiveRun::start(const Session& session, uint64_t ring_mb) {
  if (target == nullptr) {
    target = VPROF_TRY(start_target(live_command(session, trace, ring_mb)));
    own = OwnUse::since_now();
  }
  return {};
}

void LiveRun::leave() {
  frontier->pause();
  if (target == nullptr) {
    return;
  }
  const auto left = target->leave();
  if (!left && left.error().kind != ErrorKind::kInterrupted) {
    warn(left.error().message);
  }
}

std::string why_nothing(const fs::path& trace, const Session& session) {
  std::string never = no_interval_message(session.config);
  std::error_code error;
  const bool recorded =
      std::ranges::any_of(fs::directory_iterator(trace, error),
                          [](const auto& one) { return one.path().extension() == ".vpt"; });
  if (recorded || trace == session.workspace.live_run()) {
    return never;
  }
  return fmt::format(
      "no process has recorded anything in {}. Either {}; or the program is not the one that "
      "`vprof live --build` built, was started before that or without VPROF_TRACE_DIR={}, or may "
      "not write there, which its standard error says",
      shown(trace), never, trace.string());
}

Result<LiveRun> begin_live_run(Session& session, const std::string& attach) {
  LiveRun run;
  session.config.factors.threads = 1;  // the other processors are the program's
  if (!attach.empty()) {
    const pid_t pid = process_named(attach);
    run.trace = pid != 0 ? VPROF_TRY(trace_of_process(pid)) : fs::path(attach);
    run.frontier = VPROF_TRY(FrontierFile::take(run.trace));
    run.armed = VPROF_TRY(
        with_whole_budget(session.config.overhead_budget, [&] { return armed_before(session); }));
    VPROF_TRY(check_build(session, run.trace, pid));
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
  return run;
}

}  // namespace vprof::driver
