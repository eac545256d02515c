// Writes the log of compilations, one JSON object per line. The driver turns it into
// compile_commands.json.
#pragma once

#include <string>
#include <vector>

#include "command_line.h"

namespace vprof::shim {

/// Appends a line for each compiled source, and one for a link. Best effort: an unwritable
/// log must not break a build, and the driver notices that nothing was recorded.
void record(const std::string& log, const std::string& compiler,
            const std::vector<std::string>& flags, const CommandLine& line);

}  // namespace vprof::shim
