// Counts what threads recorded while they worked for intervals.
#pragma once

#include <string>
#include <vector>

#include "critical_path/segments.h"
#include "statistics/record_sums.h"

namespace vprof::analyzer {

/// Of the intervals of one kind that one worker has looked at. One thread at a time.
class RecordTally {
 public:
  /// `sites`: more than any site number. If they are too many, calls are not counted by site.
  RecordTally(const Window& window, size_t sites)
      : window_(window), sites_(sites <= kMostSites ? sites : 0) {}

  /// The window holds the interval completely, and its set-up is known.
  void add(const Interval& interval);
  /// `labels`: IntervalBuilder::labels().
  RecordSumsByGroup sums(const std::vector<std::string>& labels) const;

 private:
  /// More than a search measures; a program that is measured as a whole may have more.
  static constexpr size_t kMostSites = 1 << 14;

  RecordSums& group(std::vector<RecordSums>& groups, size_t index) const;

  const Window& window_;
  size_t sites_;
  std::vector<RecordSums> by_label_;      // by Interval::label; the last one: all further labels
  std::vector<RecordSums> by_magnitude_;  // by magnitude_of() the latency
};

}  // namespace vprof::analyzer
