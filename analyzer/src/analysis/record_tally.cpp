#include "analysis/record_tally.h"

#include <algorithm>

#include "statistics/explained_share.h"

namespace vprof::analyzer {
namespace {

/// Calls `visit` with what ended within the segment. Items are in order of their end, the last one
/// first.
template <class Visit>
void for_each_item(const Thread& thread, const IntervalSegment& segment, const Visit& visit) {
  const ItemArray& items = thread.items;
  const Item* item = std::partition_point(items.begin(), items.end(),
                                          [&](const Item& one) { return one.end > segment.end; });
  for (; item != items.end() && item->end > segment.start; ++item) {
    visit(*item);
  }
}

/// For how long the threads of the interval had no processor.
int64_t preempted_ns(const Window& window, const Interval& interval) {
  int64_t sum = 0;
  for (const IntervalSegment& segment : interval.segments) {
    const Thread& thread = window.threads[segment.thread];
    for_each_item(thread, segment, [&](const Item& item) {
      if (item.is_wait() && thread.waits[item.what & ~kWaitBit].event == VPROF_EV_PREEMPTED) {
        sum += item.end - std::max(item.start, segment.start);
      }
    });
  }
  return std::min(sum, interval.latency());
}

}  // namespace

RecordSums& RecordTally::group(std::vector<RecordSums>& groups, size_t index) const {
  if (groups.size() <= index) {
    groups.resize(index + 1);
  }
  groups[index].calls.resize(sites_);
  return groups[index];
}

void RecordTally::add(const Interval& interval) {
  const auto busy = static_cast<uint64_t>(interval.latency() - preempted_ns(window_, interval));
  RecordSums& label = group(by_label_, std::min<size_t>(interval.label, kMostLabels));
  RecordSums& magnitude = group(by_magnitude_, magnitude_of(busy));
  label.latencies.add(busy);
  magnitude.latencies.add(busy);
  uint64_t records = 0;
  for (const IntervalSegment& segment : interval.segments) {
    for_each_item(window_.threads[segment.thread], segment, [&](const Item& item) {
      records += item.is_wait() ? kRecordsPerWait : 1;
      if (!item.is_wait() && sites_ != 0) {
        ++label.calls[item.what];
        ++magnitude.calls[item.what];
      }
    });
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
