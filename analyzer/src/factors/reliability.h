// Whether the figures of a profile can be relied on: too few intervals, some that were left out, a
// handful that decide the result, a latency that drifts.
#pragma once

#include <string>
#include <vector>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// IntervalSummary::slowest_part; 0 if there are few intervals besides. `summary` has the moments.
double slowest_part(const IntervalSums& sums, const IntervalSummary& summary);

/// One line for the report per reason for caution.
std::vector<std::string> reliability_notes(const IntervalSums& sums,
                                           const IntervalSummary& summary);

}  // namespace vprof::analyzer
