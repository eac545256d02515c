// The lines of the source tree that a factor is about.
#pragma once

#include <string>

#include "session.h"
#include "vprof/instrumenter/program.h"

namespace vprof::driver {

/// The definition of each function of the factor, numbered lines, long ones cut; where a factor is
/// no function of the program, the lines around the place where it was seen.
std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor);

}  // namespace vprof::driver
