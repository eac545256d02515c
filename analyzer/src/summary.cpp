#include "summary.h"

#include <algorithm>
#include <cmath>

#include "moments.h"

namespace vprof::analyzer {
namespace {

struct Sums {
  uint64_t n = 0;
  UInt128 x = 0, xx = 0;

  void add(int64_t latency) {
    const auto value = static_cast<UInt128>(latency);
    ++n;
    x += value;
    xx += value * value;
  }
  long double mean() const { return static_cast<long double>(x) / static_cast<long double>(n); }
};

uint64_t incomplete_of(const Intervals& intervals, uint32_t kind) {
  uint64_t count = kind < intervals.unmatched_ends.size() ? intervals.unmatched_ends[kind] : 0;
  for (const Interval& interval : intervals.all) {
    if (interval.kind == kind && !interval.complete()) ++count;
  }
  return count;
}

/// Law of total variance: the part that is between the labels' means.
void add_labels(const Intervals& intervals, const std::vector<Sums>& by_label, const Sums& all,
                IntervalSummary& summary) {
  long double between = 0;
  for (size_t label = 0; label < by_label.size(); ++label) {
    const Sums& sums = by_label[label];
    if (sums.n == 0) continue;
    const long double distance = sums.mean() - all.mean();
    between +=
        static_cast<long double>(sums.n) * distance * distance / static_cast<long double>(all.n);
    summary.labels.push_back({intervals.labels[label], sums.n, static_cast<double>(sums.mean()),
                              static_cast<double>(variance(sums.n, sums.x, sums.xx))});
  }
  std::sort(summary.labels.begin(), summary.labels.end(),
            [](const LabelSummary& a, const LabelSummary& b) {
              return a.count != b.count ? a.count > b.count : a.label < b.label;
            });
  const long double total = variance(all.n, all.x, all.xx);
  if (summary.labels.size() > 1 && total > 0)
    summary.between_labels = static_cast<double>(between / total);
}

}  // namespace

std::vector<uint32_t> completed_of(const Intervals& intervals, uint32_t kind) {
  std::vector<uint32_t> chosen;
  for (uint32_t i = 0; i < intervals.all.size(); ++i) {
    if (intervals.all[i].kind == kind && intervals.all[i].complete()) chosen.push_back(i);
  }
  std::stable_sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) {
    return intervals.all[a].end < intervals.all[b].end;
  });
  return chosen;
}

std::vector<int64_t> sorted_latencies(const Intervals& intervals,
                                      const std::vector<uint32_t>& chosen) {
  std::vector<int64_t> latencies;
  latencies.reserve(chosen.size());
  for (const uint32_t i : chosen) latencies.push_back(intervals.all[i].latency());
  std::sort(latencies.begin(), latencies.end());
  return latencies;
}

int64_t quantile(const std::vector<int64_t>& sorted, double p) {
  // The small subtrahend keeps 0.95 * 20 at 19 although 0.95 is not a binary fraction.
  const double rank = std::ceil(p * static_cast<double>(sorted.size()) - 1e-9);
  const auto index = static_cast<size_t>(std::max(rank, 1.0)) - 1;
  return sorted[std::min(index, sorted.size() - 1)];
}

IntervalSummary summarize(const Intervals& intervals, const std::vector<uint32_t>& chosen,
                          uint32_t kind, const std::string& name) {
  IntervalSummary summary;
  summary.name = name;
  summary.count = chosen.size();
  summary.incomplete = incomplete_of(intervals, kind);
  Sums all;
  std::vector<Sums> by_label(intervals.labels.size());
  for (const uint32_t i : chosen) {
    all.add(intervals.all[i].latency());
    by_label[intervals.all[i].label].add(intervals.all[i].latency());
  }
  const std::vector<int64_t> sorted = sorted_latencies(intervals, chosen);
  summary.mean_ns = static_cast<double>(all.mean());
  summary.variance_ns2 = static_cast<double>(variance(all.n, all.x, all.xx));
  summary.stddev_ns = std::sqrt(summary.variance_ns2);
  summary.p50_ns = static_cast<double>(quantile(sorted, 0.5));
  summary.p95_ns = static_cast<double>(quantile(sorted, 0.95));
  summary.p99_ns = static_cast<double>(quantile(sorted, 0.99));
  summary.p999_ns = static_cast<double>(quantile(sorted, 0.999));
  summary.max_ns = static_cast<double>(sorted.back());
  add_labels(intervals, by_label, all, summary);
  return summary;
}

}  // namespace vprof::analyzer
