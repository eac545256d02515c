#include "analysis/record_tally.h"

#include <algorithm>

#include "statistics/explained_share.h"

namespace vprof::analyzer {

RecordSums& RecordTally::group(std::vector<RecordSums>& groups, size_t index) const {
  if (groups.size() <= index) {
    groups.resize(index + 1);
  }
  RecordSums& sums = groups[index];
  if (sums.calls.empty()) {
    sums.calls.resize(sites_);
  }
  return sums;
}

void RecordTally::add(const Interval& interval) {
  searched_.resize(window_.threads.size());
  ended_within_.clear();
  const size_t guess = magnitude_of(static_cast<uint64_t>(interval.latency()));
  std::vector<uint64_t>& calls = group(by_magnitude_, guess).calls;
  uint64_t records = 0;
  int64_t preempted = 0;
  for (const IntervalSegment& segment : interval.segments) {
    const Thread& thread = window_.threads[segment.thread];
    // Items are in order of their end, the last one first.
    size_t& near = searched_[segment.thread];
    const Item* const first =
        thread.items.begin() + thread.items.first_ended_before(segment.end + 1, near);
    const Item* const end = thread.items.end();
    const Item* item = first;
    for (; item != end && item->end > segment.start; ++item) {
      if (!item->is_wait()) {
        if (sites_ != 0) {
          ++calls[item->what];
        }
        continue;
      }
      records += kRecordsPerWait - 1;
      if (thread.waits[item->what & ~kWaitBit].event == VPROF_EV_PREEMPTED) {
        preempted += item->end - std::max(item->start, segment.start);
      }
    }
    records += static_cast<uint64_t>(item - first);
    ended_within_.emplace_back(first, item);
    near = static_cast<size_t>(item - thread.items.begin());
  }
  const auto busy =
      static_cast<uint64_t>(interval.latency() - std::min(preempted, interval.latency()));
  RecordSums& label = group(by_label_, std::min<size_t>(interval.label, kMostLabels));
  const size_t actual = magnitude_of(busy);
  RecordSums& magnitude = group(by_magnitude_, actual);
  label.latencies.add(busy);
  label.records += records;
  magnitude.latencies.add(busy);
  magnitude.records += records;
  if (interval.label != 0) {
    add_calls(label, 1);
  }
  if (actual != guess) {
    add_calls(magnitude, 1);
    add_calls(by_magnitude_[guess], -1);
  }
}

void RecordTally::add_calls(RecordSums& sums, int64_t times) const {
  for (const auto& [first, end] : ended_within_) {
    for (const Item* item = first; sites_ != 0 && item != end; ++item) {
      if (!item->is_wait()) {
        sums.calls[item->what] += static_cast<uint64_t>(times);
      }
    }
  }
}

/// All calls without those of other labels.
std::vector<uint64_t> RecordTally::calls_of_first_label() const {
  std::vector<uint64_t> calls(sites_);
  const auto add = [&](const std::vector<RecordSums>& groups, size_t from, uint64_t times) {
    for (size_t group = from; group < groups.size(); ++group) {
      for (size_t site = 0; site < groups[group].calls.size(); ++site) {
        calls[site] += times * groups[group].calls[site];
      }
    }
  };
  add(by_magnitude_, 0, 1);
  add(by_label_, 1, UINT64_MAX);  // -1
  return calls;
}

RecordSumsByGroup RecordTally::sums(const std::vector<std::string>& labels) const {
  RecordSumsByGroup all;
  for (size_t i = 0; i < std::min(by_label_.size(), kMostLabels); ++i) {
    if (by_label_[i].latencies.n != 0) {
      all.labels[labels[i]] = by_label_[i];
      if (i == 0) {
        all.labels[labels[i]].calls = calls_of_first_label();
      }
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
