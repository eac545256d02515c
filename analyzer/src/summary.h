// Latencies of the completed intervals of one kind.
#pragma once

#include <cstdint>
#include <vector>

#include "intervals.h"

namespace vprof::analyzer {

/// Completed intervals of a kind, in order of their end.
std::vector<uint32_t> completed_of(const Intervals& intervals, uint32_t kind);

/// The smallest latency such that at least the part `p` of all is not above it. `sorted` is not
/// empty.
int64_t quantile(const std::vector<int64_t>& sorted, double p);

/// `chosen` is not empty.
IntervalSummary summarize(const Intervals& intervals, const std::vector<uint32_t>& chosen,
                          uint32_t kind, const std::string& name);

std::vector<int64_t> sorted_latencies(const Intervals& intervals,
                                      const std::vector<uint32_t>& chosen);

}  // namespace vprof::analyzer
