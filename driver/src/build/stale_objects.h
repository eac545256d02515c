// Which objects the build has to make again, where the build does not know.
#pragma once

#include "workspace/session.h"

namespace vprof::instrumenter {
class Program;
}

namespace vprof::driver {

/// Makes sure that the build compiles again what depends on files that have changed in the mirror,
/// and forgets these.
Result<void> make_stale(const Session& session, const instrumenter::Program& program);

/// How many compiled files contain one of `changed`.
size_t units_with(const instrumenter::Program& program, const std::vector<std::string>& changed);

}  // namespace vprof::driver
