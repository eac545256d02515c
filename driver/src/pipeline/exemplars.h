// Which single intervals a report shows piece by piece.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/details.h"
#include "vprof/report/html.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// The three slowest intervals, those nearest to p99, p95 and the median, and for each of the first
/// k factors the one in which it took longest. Reads the recording once; empty if there is none.
Result<std::vector<report::SelectedTimeline>> exemplars(const analyzer::Profile& profile,
                                                        const analyzer::Details& details,
                                                        const fs::path& trace);

/// The same, all intervals that the page names, the slowest, and some of each part of the
/// distribution, as far as there is room: up to 400, fewer where intervals have many records. Each
/// is looked up in all of the recordings.
Result<report::PageTimelines> page_timelines(const analyzer::Profile& profile,
                                             const analyzer::Details& details,
                                             const std::vector<fs::path>& recordings);

}  // namespace vprof::driver
