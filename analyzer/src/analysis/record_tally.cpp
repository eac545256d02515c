#include "analysis/record_tally.h"

#include <algorithm>

#include "statistics/explained_share.h"

namespace vprof::analyzer {
namespace {

constexpr uint64_t kSlotsOfWait = 3;  // a head and two continuations

}  // namespace

RecordSums& RecordTally::group(std::vector<RecordSums>& groups, size_t index) const {
  if (groups.size() <= index) {
    groups.resize(index + 1);
  }
  groups[index].calls.resize(sites_);
  return groups[index];
}

void RecordTally::add(const Interval& interval) {
  const auto latency = static_cast<uint64_t>(interval.latency());
  RecordSums& label = group(by_label_, std::min<size_t>(interval.label, kMostLabels));
  RecordSums& magnitude = group(by_magnitude_, magnitude_of(latency));
  label.latencies.add(latency);
  magnitude.latencies.add(latency);
  uint64_t records = 0;
  for (const IntervalSegment& segment : interval.segments) {
    // Items are in order of their end, the last one first.
    const ItemArray& items = window_.threads[segment.thread].items;
    const Item* item = std::partition_point(items.begin(), items.end(),
                                            [&](const Item& one) { return one.end > segment.end; });
    for (; item != items.end() && item->end > segment.start; ++item) {
      if (item->is_wait()) {
        records += kSlotsOfWait;
        continue;
      }
      ++records;
      ++label.calls[item->what];
      ++magnitude.calls[item->what];
    }
  }
  label.records += records;
  magnitude.records += records;
}

RecordSumsByGroup RecordTally::sums(const std::vector<std::string>& labels) const {
  RecordSumsByGroup all;
  for (size_t i = 0; i < std::min(by_label_.size(), kMostLabels); ++i) {
    if (by_label_[i].latencies.n != 0) {
      all.labels[labels[i]] = by_label_[i];
    }
  }
  for (uint32_t i = 0; i < by_magnitude_.size(); ++i) {
    if (by_magnitude_[i].latencies.n != 0) {
      all.magnitudes[i] = by_magnitude_[i];
    }
  }
  return all;
}

}  // namespace vprof::analyzer
