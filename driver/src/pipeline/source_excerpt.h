// The source of a factor as text for a terminal.
#pragma once

#include <string>

#include "vprof/instrumenter/program.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The definition of each function of the factor with line numbers, shortened if it is long. If the
/// factor is no function of the program, the lines around the place where it was seen.
std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor);

}  // namespace vprof::driver
