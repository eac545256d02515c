#pragma once

#include <cstddef>
#include <string_view>

namespace vprof::instrumenter {

/// Prints `@progress DONE TOTAL WHAT` for the driver. Thread-safe.
void report_progress(size_t done, size_t total, std::string_view what);

}  // namespace vprof::instrumenter
