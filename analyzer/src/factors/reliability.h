// Whether the figures can be relied on: too few intervals, a few that decide, a latency that
// drifts.
#pragma once

#include <string>
#include <vector>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// One line for each reason for caution.
void note_reliability(const Account& account, const IntervalSummary& summary,
                      std::vector<std::string>& notes);

}  // namespace vprof::analyzer
