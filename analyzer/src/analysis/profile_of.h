// From interval sums to a ranked profile.
#pragma once

#include <string>
#include <vector>

#include "statistics/interval_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The kind of interval asked for, or the one that completed most often. Error: there is none of
/// that name; or kNoInterval, none completed.
Result<IntervalSums> choose(std::vector<IntervalSums> all, const std::string& trace_dir,
                            const std::string& wanted);

Profile profile_of(const IntervalSums& sums, const Options& options);

}  // namespace vprof::analyzer
