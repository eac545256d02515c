// The compilation database of the mirror: recorded by the shims, or written by the build.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// Writes compile_commands.json after a build through the shims and returns its number of entries.
/// Error: the build compiled nothing; suggests why.
Result<size_t> make_compile_database(const Session& session);

}  // namespace vprof::driver
