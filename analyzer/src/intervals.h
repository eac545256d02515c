// Marks of all threads, in order of time, to semantic intervals and the segments in which threads
// worked for them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline.h"

namespace vprof::analyzer {

struct Interval {
  uint32_t kind = 0;   ///< index in sites.json "intervals"
  uint32_t label = 0;  ///< index into Intervals::labels
  int64_t begin = 0;
  int64_t end = 0;
  uint32_t end_thread = kNone;  ///< kNone: never ended

  bool complete() const { return end_thread != kNone; }
  int64_t latency() const { return end - begin; }
};

/// A segment as its interval sees it.
struct IntervalSegment {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t thread = 0;
  int64_t latest_end =
      0;  ///< of this and all earlier-starting segments of the interval: bounds a search backwards
};

struct Intervals {
  std::vector<Interval> all;
  std::vector<std::string> labels = {""};
  std::vector<uint64_t> unmatched_ends;  ///< by kind: ENDs of intervals that were not open

  /// Segments of interval i, in order of start: segments[first[i] .. first[i + 1]).
  std::vector<IntervalSegment> segments;
  std::vector<size_t> first;
};

/// Also fills in Thread::segments. Longer than this is a damaged clock word, not an interval: sums
/// of squares of 2^32 such intervals still fit into 128 bits.
inline constexpr int64_t kLongestInterval = int64_t{1} << 47;

Intervals build_intervals(Recording& recording, bool want_segments);

/// The kind that the options ask for. Error: names the kinds there are.
Result<uint32_t> choose_kind(const Intervals& intervals, const Sites& sites,
                             const std::string& wanted);

}  // namespace vprof::analyzer
