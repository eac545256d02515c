// Runs a command in a process group of its own, with its output in a log, until it ends or Ctrl-C
// stops it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

struct Command {
  std::vector<std::string> argv;
  fs::path directory;  ///< working directory
  /// Added to our environment; an empty value removes the variable.
  std::map<std::string, std::string> environment;
  fs::path log;         ///< receives standard output and standard error
  bool append = false;  ///< appends to the log instead of replacing it
  /// If set, receives standard output line by line instead of the log.
  std::function<void(std::string_view)> on_line;
  bool end_leftovers = false;  ///< ends the processes that the command left running
  /// Whether the user may end the command with Ctrl-C: that is then its end, and no interruption of
  /// vprof. It gets SIGINT, a second later SIGTERM, and SIGKILL after the grace period.
  bool stoppable = false;
  double stop_after_s = 0;  ///< when it is ended in the same way; 0: never
  double timeout_s = 0;     ///< how long the command may run before it is ended; 0: for ever
  /// If set, called several times a second while the command runs, with the seconds since its
  /// start.
  std::function<void(double)> on_turn = {};
};

struct Finished {
  int code = 0;            ///< exit code, or 128 + signal
  double seconds = 0;      ///< wall time, without that in which Ctrl-Z had stopped it
  double stopped_s = 0;    ///< how long Ctrl-Z had stopped it
  bool timed_out = false;  ///< was ended because it ran for longer than it may
  bool stopped = false;    ///< was ended by the user, or after `stop_after_s`
  /// Names of the processes that the command had left running, which were ended.
  std::vector<std::string> leftovers = {};
};

/// `sh -c text`.
std::vector<std::string> shell(const std::string& text);

/// A command while it runs. All dead children of vprof are reaped meanwhile, so only one command
/// can run at a time.
class RunningCommand {
 public:
  /// Error: kInterrupted, or the command could not be started.
  static Result<std::unique_ptr<RunningCommand>> start(const Command& command);
  /// Ends the command if it still runs.
  virtual ~RunningCommand() = default;

  /// Waits for a moment, some 20 ms, and passes an interruption of vprof on. Returns whether the
  /// command still runs.
  virtual bool turn() = 0;
  /// Call when it has ended, or to end it and all that it started: SIGTERM first, then SIGKILL.
  /// Error: kInterrupted.
  virtual Result<Finished> finish() = 0;
};

/// Runs a command to its end. Meanwhile all dead children of vprof are reaped, so only one command
/// can run at a time. When vprof is interrupted, the process group gets SIGINT, and SIGKILL
/// if it has not ended after 5 s, or after as many seconds as $VPROF_GRACE_S says. Error:
/// kInterrupted, or the command could not be started. Ctrl-Z stops the process group with vprof.
Result<Finished> run_command(const Command& command);

}  // namespace vprof::driver
