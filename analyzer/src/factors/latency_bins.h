// Latencies in bins (histogram.h), with their bounds.
#pragma once

#include <cstdint>
#include <vector>

#include "statistics/interval_sums.h"
#include "vprof/analyzer/details.h"

namespace vprof::analyzer {

/// The bin with this number, as latency_bin() has it.
LatencyBin bin_of(uint32_t bin, uint64_t count);
std::vector<LatencyBin> label_bins_of(const LatencyBins& latencies);

/// The p-quantile of `count` latencies in ns, as if they were spread evenly within a bin.
double quantile_of(const std::vector<LatencyBin>& bins, uint64_t count, double p);

}  // namespace vprof::analyzer
