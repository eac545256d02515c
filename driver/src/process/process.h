// Running the user's commands: in a process group of their own, output into a log, stoppable by
// Ctrl-C.
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
  std::map<std::string, std::string>
      environment;      ///< added to ours; an empty value removes the variable
  fs::path log;         ///< receives both outputs
  bool append = false;  ///< to the log instead of replacing it
  std::function<void(std::string_view)>
      on_line;                 ///< if set, standard output comes here line by line instead
  bool end_leftovers = false;  ///< stop what the command left running in its process group
};

struct Finished {
  int code = 0;            ///< exit code, or 128 + signal
  double seconds = 0;      ///< wall time
  bool leftovers = false;  ///< something had been left running and was stopped
};

/// `sh -c text`.
std::vector<std::string> shell(const std::string& text);

/// Runs to the end. The process group gets SIGINT when we are interrupted and, if it does not end,
/// SIGKILL later. Error: the command could not be started, or we were interrupted
/// (interrupt::requested() tells which).
Result<Finished> run_command(const Command& command);

}  // namespace vprof::driver
