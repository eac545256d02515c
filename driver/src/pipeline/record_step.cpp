#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "build/compile_log.h"
#include "pipeline/analysis.h"
#include "pipeline/results.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "process/hang_watch.h"
#include "vprof/analyzer/recording.h"
#include "vprof/report/message.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {}  // namespace

Result<void> clear_trace_directory(const fs::path& trace) {
  VPROF_TRY(remove_tree(trace));
  VPROF_TRY(make_directories(trace));
  // A server that drops root privileges must still be able to write. Sticky, like /tmp.
  if (::chmod(trace.c_str(), 01777) != 0) {
    return fail("cannot change the mode of {}", shown(trace));
  }
  return {};
}

namespace {

bool holds_traces(const fs::path& directory) {
  std::error_code error;
  for (const auto& item : fs::directory_iterator(directory, error)) {
    if (item.path().extension() == ".vpt") {
      return true;
    }
  }
  return false;
}

/// How long the workload took the last time, in s; 0: unknown.
double usual_seconds(const State& state) {
  double usual = state.baseline.run_s;
  for (const report::Iteration& one : state.history) {
    usual = one.run_s > 0 ? one.run_s : usual;
  }
  return usual;
}

double patience() {
  const char* factor = std::getenv("VPROF_PATIENCE");
  return factor == nullptr ? 1 : std::atof(factor);
}

/// What the recording holds so far, for the progress line.
class RecordingStatus {
 public:
  explicit RecordingStatus(const fs::path& trace) : counter_(trace.string()) {}

  StepStatus at(double seconds) {
    if (seconds >= next_s_) {
      const auto begin = std::chrono::steady_clock::now();
      const analyzer::RecordedSoFar so_far = counter_.look();
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
      next_s_ = seconds + std::max(kCountEachS, kRestsFor * took.count());
      last_.what = so_far.records == 0 ? "" : in_words(so_far);
    }
    return last_;
  }

 private:
  static constexpr double kCountEachS = 0.5;
  static constexpr double kRestsFor = 50;  // looks take 2 % of one processor at most

  static std::string in_words(const analyzer::RecordedSoFar& so_far) {
    return fmt::format("({}{} intervals, {} records)", so_far.exact ? "" : "about ",
                       report::human_count(so_far.intervals), report::human_count(so_far.records));
  }

  analyzer::RecordingCounter counter_;
  double next_s_ = 0;
  StepStatus last_;
};

StepCommand workload_step(const Session& session, const WorkloadRun& run) {
  const Config& config = session.config;
  StepCommand step{.step = run.sites == Sites::kOn ? "run" : "baseline run",
                   .what = "the workload",
                   .command = workload_command(session, run)};
  if (config.run_timeout_s == 0 && !run.stoppable) {
    analyzer::RecordingProgress progress(run.trace.string());
    HangWatch watch(run.usual_s, [progress]() mutable { return progress.advanced(); }, patience());
    step.watch = [watch](double seconds) mutable { return watch.at(seconds); };
  }
  step.usual_s = run.stop_after_s > 0 ? run.stop_after_s : run.usual_s;
  step.status = [status = RecordingStatus(run.trace)](double seconds) mutable {
    return status.at(seconds);
  };
  return step;
}

}  // namespace

Command workload_command(const Session& session, const WorkloadRun& run) {
  const Config& config = session.config;
  Command command;
  command.argv = run.argv;
  command.directory = session.workspace.mirror();
  command.log = run.log;
  command.end_leftovers = true;
  command.timeout_s = config.run_timeout_s;
  command.stoppable = run.stoppable;
  command.stop_after_s = run.stop_after_s;
  std::map<std::string, std::string>& environment = command.environment;
  environment = config.env;
  environment["VPROF_TRACE_DIR"] = run.trace.string();
  environment["VPROF_SITES"] = run.sites == Sites::kOn ? "" : "off";
  if (!config.leave_out.empty()) {
    environment["VPROF_WAITS_OFF"] = fmt::format("{}", fmt::join(config.leave_out, ","));
  }
  if (config.ring_mb > 0) {
    environment["VPROF_RING_MB"] = std::to_string(config.ring_mb);
  }
  if (config.max_mb > 0) {
    environment["VPROF_TRACE_MB"] = std::to_string(config.max_mb);
  }
  return command;
}

std::string command_of(const WorkloadRun& run) {
  return fmt::format("{}", fmt::join(run.argv, " "));
}

WorkloadRun workload_run(const Session& session, Sites sites) {
  const Workspace& workspace = session.workspace;
  const int n = session.state.iteration;
  const bool on = sites == Sites::kOn;
  return {.argv = shell(session.config.run),
          .trace = on ? workspace.trace(n) : workspace.baseline(n),
          .log = workspace.iteration(n) / (on ? "run.log" : "baseline.log"),
          .sites = sites,
          .usual_s = usual_seconds(session.state)};
}

Result<double> record_step(const Session& session, const WorkloadRun& run) {
  VPROF_TRY(clear_trace_directory(run.trace));
  const report::Provenance provenance = provenance_of(session, run.argv);
  const Finished finished = VPROF_TRY(run_step(workload_step(session, run)));
  if (finished.stopped_s > 0) {
    warn(fmt::format(
        "the workload was stopped for {:.1f} s (Ctrl-Z); intervals that were under way, and what "
        "has a time limit, include that time",
        finished.stopped_s));
  }
  if (!finished.leftovers.empty() && !finished.stopped) {
    warn(fmt::format("the workload left processes running ({}); vprof ended them",
                     listed(finished.leftovers)));
  }
  if (!holds_traces(run.trace)) {
    // The runtime creates a trace when it has something to write.
    const std::vector<std::string> fixed = static_programs(session.workspace);
    return fail(
        ErrorKind::kNoInterval,
        "{}; or \"run\" does not start the program that is built in {}{} (output: {})",
        no_interval_message(session.config), shown(session.workspace.mirror()),
        fixed.empty() ? "" : fmt::format("; or it is linked statically, as {}", listed(fixed)),
        shown(run.log));
  }
  VPROF_TRY(
      write_file_atomic(run.trace / "sites.json", VPROF_TRY(read_file(session.workspace.sites()))));
  VPROF_TRY(write_file_atomic(run.trace / "command.txt", command_of(run) + "\n"));
  VPROF_TRY(save_provenance(run.trace, provenance));
  return finished.seconds;
}

}  // namespace vprof::driver
