// The log of compilations: one JSON object per line, which the driver turns into
// compile_commands.json.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"

namespace vprof::shim {

/// Appends a line for each compiled source, and one for a static link. A log that cannot be written
/// is no reason to fail a build: the driver finds out that nothing was recorded.
void record(const std::string& log, const std::string& compiler,
            const std::vector<std::string>& flags, const CommandLine& line);

}  // namespace vprof::shim
