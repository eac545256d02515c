// The source that functions and factors refer to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/session.h"

namespace vprof::driver {

/// A line of a file of the source tree. Line 0: unknown.
struct SourceLocation {
  std::string file;
  size_t line = 0;
};

/// Where a factor is defined, else where it was seen.
SourceLocation location_of(const analyzer::Factor& factor);

/// The text of a file of the mirror without what the instrumenter inserted; empty if it cannot be
/// read.
std::string original_text(const Session& session, const std::string& file);

/// The lines of a file of the source tree, or of the mirror if it is generated.
std::vector<std::string> source_lines(const Session& session, const std::string& file);

/// First and last line of a function's definition, from 1.
std::pair<size_t, size_t> lines_of_function(const Session& session,
                                            const instrumenter::Function& f);

/// What the instrumenter inserted into the lines `first` to `last` of a file, as a diff; empty if
/// nothing.
/// @param instrumented the text of the file with the insertions
std::string insertions_in(const Session& session, const std::string& file,
                          const std::string& instrumented, size_t first = 1,
                          size_t last = SIZE_MAX);

/// The definition of each function of the factor with line numbers, shortened if it is long. If the
/// factor is no function of the program, the lines around the location where it was seen.
std::string source_excerpt(const Session& session, const instrumenter::Program& program,
                           const analyzer::Factor& factor);

}  // namespace vprof::driver
