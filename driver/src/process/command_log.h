// What is worth showing of a command's log when the command has failed.
#pragma once

#include <string>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

/// At most the last `count` lines; reads only the end of the file. Empty if it cannot be read.
std::vector<std::string> last_lines(const fs::path& path, size_t count);

/// At most the first `count` lines of a build's log that look like an error of a compiler, a linker
/// or make. With parallel jobs the last lines rarely hold it. Empty if the log cannot be read.
std::vector<std::string> error_lines(const fs::path& path, size_t count);

}  // namespace vprof::driver
