// Reading and replacing whole files.
#pragma once

#include <string>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// The content of a file. Error: one line with the path and the system's reason.
Result<std::string> read_file(const std::string& path);

/// Replaces a file in one step (temporary file, rename), keeping the mode of an existing one, so
/// that nobody ever sees half of it. Creates the directories above it.
Result<void> replace_file(const std::string& path, const std::string& content);

}  // namespace vprof::instrumenter
