// Counts what threads recorded while they worked for intervals.
#pragma once

#include <string>
#include <utility>
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
  /// Adds those of the interval that is being added.
  void add_calls(RecordSums& sums, int64_t times) const;
  std::vector<uint64_t> calls_of_first_label() const;

  const Window& window_;
  size_t sites_;
  std::vector<RecordSums> by_label_;  // by Interval::label; the last one: all further labels.
  // The calls of label 0 are not counted: often it is the only one.
  std::vector<RecordSums> by_magnitude_;  // by magnitude_of() the latency
  std::vector<size_t> searched_;          // by thread: where the items of its last segment ended
  /// Items that ended within each segment of the interval that is being added: first, end.
  std::vector<std::pair<const Item*, const Item*>> ended_within_;
};

}  // namespace vprof::analyzer
