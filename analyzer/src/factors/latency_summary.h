// The latency of the completed intervals: moments, percentiles, labels, work.
#pragma once

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

IntervalSummary summarize(const IntervalSums& sums);

}  // namespace vprof::analyzer
