// Running one command of the user or one of our helpers as a step: progress, log, and what to say
// when it fails.
#pragma once

#include "process/process.h"

namespace vprof::driver {

struct StepCommand {
  std::string step;  ///< `build`; for progress and messages
  std::string what;  ///< `the build command`: what failed
  Command command;
  std::string speaker = {};  ///< of a helper of ours: its last line, `SPEAKER: what`, is the error
};

/// Error: the command could not be run or failed. The first errors in its log and its last lines
/// are shown before the one line of the error.
Result<Finished> run_step(const StepCommand& step);

/// One line of vprof's own on standard output.
void say(const std::string& line);
/// From now on say() writes to standard error: standard output is for a program that reads JSON.
void narrate_on_standard_error();
/// One line on standard error: the result may be less than hoped for.
void warn(const std::string& line);

}  // namespace vprof::driver
