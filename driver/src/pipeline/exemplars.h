// Which single intervals are worth showing.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/details.h"
#include "vprof/report/html.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// The slowest three, ordinary ones, and those in which the first factors took longest, as they
/// went. Empty: the recording is not there. One pass over it.
Result<std::vector<report::ShownTimeline>> exemplars(const analyzer::Profile& profile,
                                                     const analyzer::Details& details,
                                                     const fs::path& trace);

}  // namespace vprof::driver
