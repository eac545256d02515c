#include "factors/latency_bins.h"

#include <algorithm>

namespace vprof::analyzer {
namespace {

/// Least latency of a bin, ns: the inverse of latency_bin(). UINT64_MAX if it does not fit.
uint64_t least_of_bin(uint32_t bin) {
  constexpr uint32_t kPerOctave = 32;
  if (bin < kPerOctave) {
    return uint64_t{bin} * kPerOctave;
  }
  const uint32_t shift = (bin - kPerOctave) / kPerOctave;
  const uint64_t within = kPerOctave + (bin - kPerOctave) % kPerOctave;
  if (shift + 6 + 5 > 64) {
    return UINT64_MAX;
  }
  return (within * kPerOctave) << shift;
}

}  // namespace

LatencyBin bin_of(uint32_t bin, uint64_t count) {
  return {least_of_bin(bin), least_of_bin(bin + 1), count};
}

std::vector<LatencyBin> label_bins_of(const LatencyBins& latencies) {
  std::vector<LatencyBin> bins;
  for (const auto& [bin, count] : latencies) {
    bins.push_back(bin_of(bin, count));
  }
  return bins;
}

double quantile_of(const std::vector<LatencyBin>& bins, uint64_t count, double p) {
  const double rank = p * static_cast<double>(count);
  double before = 0;
  for (const LatencyBin& bin : bins) {
    const auto own = static_cast<double>(bin.count);
    if (before + own >= rank) {
      const double part = std::clamp((rank - before) / own, 0.0, 1.0);
      return static_cast<double>(bin.from_ns) + part * static_cast<double>(bin.to_ns - bin.from_ns);
    }
    before += own;
  }
  return 0;
}

}  // namespace vprof::analyzer
