// Runs a command in a process group of its own, with its output in a log, until it ends or Ctrl-C
// stops it.
#pragma once

#include <functional>
#include <map>
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
  bool end_leftovers = false;  ///< ends processes that the command left running in its group
};

struct Finished {
  int code = 0;            ///< exit code, or 128 + signal
  double seconds = 0;      ///< wall time
  bool leftovers = false;  ///< the command had left processes running, which were ended
};

/// `sh -c text`.
std::vector<std::string> shell(const std::string& text);

/// Runs a command to its end. When vprof is interrupted, the process group gets SIGINT, and SIGKILL
/// if it has not ended after 5 s, or after as many seconds as $VPROF_GRACE_S says. Error:
/// kInterrupted, or the command could not be started.
Result<Finished> run_command(const Command& command);

}  // namespace vprof::driver
