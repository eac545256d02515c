// What the instrumenter inserted into a file, as a diff.
#pragma once

#include <cstddef>
#include <string>

namespace vprof::driver {

/// A unified diff of lines `first` to `last` (1-based, inclusive) between a file and its
/// instrumented text; empty if nothing was inserted there. The instrumenter only inserts text, and
/// line breaks only in its prelude, so the lines of both texts correspond.
std::string insertions(const std::string& original, const std::string& instrumented,
                       const std::string& name, size_t first = 1, size_t last = SIZE_MAX);

}  // namespace vprof::driver
