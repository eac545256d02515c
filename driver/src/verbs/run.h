// Runs a verb as the program's main job: signals, the line about an error, and the exit code.
//
//   0             done
//   1             a condition of `diff --fail-if` holds
//   2             an error; standard error has one line about it
//   128 + signal  interrupted; the same command resumes
#pragma once

#include <functional>
#include <string>

#include "vprof/support/result.h"

namespace vprof::driver {

/// Prepares the process: call it first in main(), before there are threads.
void prepare_process();

/// Prints `vprof: message` as one line on standard error. Returns the exit code.
int exit_with(std::string message);

/// The exit code of what was done with this one: that of an error if the answer was not written.
int when_written(int code);

/// Writes a text to standard output as it is.
Result<int> print(const std::string& text);

/// Runs the verb in `directory`, or in the working directory if that is empty. Returns the exit
/// code.
int run(const std::function<Result<int>()>& verb, const std::string& directory);

}  // namespace vprof::driver
