// Starts the program of a Command.
#pragma once

#include <sys/types.h>

#include "process/process.h"

namespace vprof::driver {

/// Starts the command in a process group of its own. Standard error goes to `log`, standard output
/// to `output`, or to `log` if that is negative. Returns 0 or an errno.
int spawn(const Command& command, int log, int output, pid_t* pid);

}  // namespace vprof::driver
