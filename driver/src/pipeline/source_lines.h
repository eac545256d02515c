// The source that functions and factors refer to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/session.h"

namespace vprof::driver {

/// A line of a file of the source tree. Line 0: unknown.
struct Place {
  std::string file;
  size_t line = 0;
};

/// Where a factor is defined, else where it was seen.
Place place_of(const analyzer::Factor& factor);

/// The text of a file of the mirror without what the instrumenter inserted; empty if it cannot be
/// read.
std::string original_text(const Session& session, const std::string& file);

/// The lines of a file of the source tree, or of the mirror if it is generated.
std::vector<std::string> source_lines(const Session& session, const std::string& file);

/// First and last line of a function's definition, from 1.
std::pair<size_t, size_t> lines_of_function(const Session& session,
                                            const instrumenter::Function& f);

}  // namespace vprof::driver
