// The lines of the source tree that a factor is about.
#pragma once

#include <string>
#include <utility>

#include "vprof/instrumenter/program.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The text of a file of the mirror without what was inserted into it; empty if it cannot be read.
std::string original_text(const Session& session, const std::string& file);

/// First and last line of a function's definition, 1-based.
std::pair<size_t, size_t> lines_of_function(const Session& session,
                                            const instrumenter::Function& f);

/// The definition of each function of the factor, numbered lines, long ones cut; where a factor is
/// no function of the program, the lines around the place where it was seen.
std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor);

}  // namespace vprof::driver
