// How much was recorded for which intervals: for those with one label, and for those of about one
// latency. From it follows what recording adds to the latencies, which differ by far more than
// their mean shows.
#pragma once

#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "statistics/moments.h"

namespace vprof::analyzer {

struct RecordSums {
  /// Without the time in which the interval's threads had no processor: that is the machine's.
  LatencySums latencies;
  /// Made by the intervals' own threads while they worked for them. A wait counts as
  /// kRecordsPerWait.
  uint64_t records = 0;
  /// By site. Not in profile files.
  std::vector<uint64_t> calls;

  RecordSums& operator+=(const RecordSums& other);
};

struct RecordSumsByGroup {
  std::map<std::string, RecordSums> labels;   ///< without those beyond kMostLabels
  std::map<uint32_t, RecordSums> magnitudes;  ///< by magnitude_of() the latency

  RecordSumsByGroup& operator+=(const RecordSumsByGroup& other);
};

/// m: the latency is less than 2^m ns, and at least half of that.
inline uint32_t magnitude_of(uint64_t latency_ns) {
  return static_cast<uint32_t>(std::bit_width(latency_ns));
}

}  // namespace vprof::analyzer
