// The lines of a log that explain why its command failed.
#pragma once

#include <string>
#include <vector>

#include "vprof/support/files.h"

namespace vprof::driver {

/// Up to `count` lines from the end of the log; reads only its last 64 KiB. Empty if the log cannot
/// be read.
std::vector<std::string> last_lines(const fs::path& path, size_t count);

/// The first lines of a build's log, up to `count`, that look like an error from a compiler, a
/// linker or make. After a parallel build, the last lines rarely contain it. Empty if the log
/// cannot be read.
std::vector<std::string> error_lines(const fs::path& path, size_t count);

}  // namespace vprof::driver
