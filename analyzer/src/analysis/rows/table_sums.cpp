#include "analysis/rows/table_sums.h"

#include <algorithm>

namespace vprof::analyzer {

namespace {
constexpr size_t kMostEntries = 1 << 19;  // some 100 MB
}  // namespace

Result<void> TableSums::add(const TableInterval& interval, uint64_t batch, uint32_t label,
                            const std::vector<PlaceTotal>& times) {
  const Label name = label < kMostLabels ? Label(interval.label) : std::nullopt;
  Group& group = groups_[{interval.name, batch, name}];
  group.begin_ns = std::min(group.begin_ns, interval.begin_ns);
  group.end_ns = std::max(group.end_ns, interval.begin_ns);
  ++group.n;
  const UInt128 work = interval.work;
  group.w += work;
  group.ww += work * work;
  for (const PlaceTotal& time : times) {
    const auto [entry, is_new] = group.places.try_emplace(time.place);
    entries_ += is_new ? 1 : 0;
    entry->second.sums.add(time.ns, interval.latency_ns);
    entry->second.xw += work * time.ns;
  }
  latencies_[{interval.name, name}].add(interval.latency_ns);
  return entries_ > kMostEntries ? pass_on() : Result<void>();
}

Result<void> TableSums::pass_on() {
  for (const auto& [key, group] : groups_) {
    SumsRow row;
    std::tie(row.name, row.batch, row.label) = key;
    row.begin_ns = group.begin_ns;
    row.end_ns = group.end_ns;
    row.n = group.n;
    row.w = group.w;
    row.ww = group.ww;
    for (const auto& [place, sums] : group.places) {
      row.place = place;
      row.count = sums.sums.count;
      row.x = sums.sums.x;
      row.xx = sums.sums.xx;
      row.xt = sums.sums.xt;
      row.xw = sums.xw;
      VPROF_TRY(sink_.sums(row));
    }
  }
  groups_.clear();
  entries_ = 0;
  return {};
}

Result<void> TableSums::finish() {
  VPROF_TRY(pass_on());
  for (const auto& [key, latencies] : latencies_) {
    LatencyRow row;
    std::tie(row.name, row.label) = key;
    for (const Histogram::Bucket& bucket : latencies.buckets()) {
      if (bucket.count != 0) {
        row.bucket = latency_bucket(bucket.least);
        row.n = bucket.count;
        row.least_ns = bucket.least;
        row.greatest_ns = bucket.greatest;
        VPROF_TRY(sink_.latency(row));
      }
    }
  }
  return {};
}

}  // namespace vprof::analyzer
