// compile_commands.json of the mirror: recorded by the shims, or the user's own.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// After a build through the shims. Returns the number of entries. Error: nothing was recorded,
/// with what may be the reason.
Result<size_t> make_compile_database(const Session& session);

}  // namespace vprof::driver
