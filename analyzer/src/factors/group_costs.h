// The groups of intervals whose records are looked at one by one: each label, and the slow ones.
#pragma once

#include <vector>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

struct GroupCosts {
  std::vector<GroupCost> groups;
  std::vector<std::vector<uint64_t>> calls;  ///< by group, then site; empty: unknown
};

/// All intervals first, then the slow ones, then the labels if there are several,
/// most records first. The slow ones are the slowest that at least half of the squared deviations
/// from the mean are of, up to a factor of two in the least latency.
GroupCosts group_costs(const IntervalSums& sums);

}  // namespace vprof::analyzer
