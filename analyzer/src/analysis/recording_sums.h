// From a recording to interval sums.
#pragma once

#include <string>
#include <vector>

#include "statistics/interval_sums.h"
#include "trace/sites.h"
#include "trace/trace_file.h"

namespace vprof::analyzer {

/// The sums of each kind of interval, in the order of sites.json; only Options::interval, if it is
/// given. Those of which none completed have no sums. Errors as for analyze(), but for kNoInterval.
Result<std::vector<IntervalSums>> sums_of_recording(const std::string& trace_dir,
                                                    const std::string& sites_json,
                                                    const Options& options);
Result<std::vector<IntervalSums>> sums_of_recording(const std::string& trace_dir,
                                                    const Sites& sites, const Options& options);

}  // namespace vprof::analyzer
