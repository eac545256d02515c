// Latencies of the completed intervals of one kind.
#pragma once

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

IntervalSummary summarize(const Account& account);

}  // namespace vprof::analyzer
