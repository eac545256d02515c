#include "summary.h"

#include <algorithm>
#include <cmath>

namespace vprof::analyzer {
namespace {

long double mean(const LabelSums& sums) {
  return static_cast<long double>(sums.x) / static_cast<long double>(sums.n);
}

/// Law of total variance: the part that is between the labels' means.
void add_labels(const Account& account, const LabelSums& all, IntervalSummary& summary) {
  long double between = 0;
  for (const auto& [label, sums] : account.labels) {
    const long double distance = mean(sums) - mean(all);
    between +=
        static_cast<long double>(sums.n) * distance * distance / static_cast<long double>(all.n);
    summary.labels.push_back({label, sums.n, static_cast<double>(mean(sums)),
                              static_cast<double>(variance(sums.n, sums.x, sums.xx))});
  }
  std::stable_sort(summary.labels.begin(), summary.labels.end(),
                   [](const LabelSummary& a, const LabelSummary& b) { return a.count > b.count; });
  const long double total = variance(all.n, all.x, all.xx);
  if (summary.labels.size() > 1 && total > 0) {
    summary.between_labels = static_cast<double>(between / total);
  }
}

}  // namespace

IntervalSummary summarize(const Account& account) {
  IntervalSummary summary;
  summary.name = account.interval;
  summary.count = account.count();
  summary.incomplete = account.incomplete;
  LabelSums all;
  for (const auto& [label, sums] : account.labels) {
    all.n += sums.n;
    all.x += sums.x;
    all.xx += sums.xx;
  }
  if (all.n == 0) return summary;
  summary.mean_ns = static_cast<double>(mean(all));
  summary.variance_ns2 = static_cast<double>(variance(all.n, all.x, all.xx));
  summary.stddev_ns = std::sqrt(summary.variance_ns2);
  summary.p50_ns = account.latencies.quantile(0.5);
  summary.p95_ns = account.latencies.quantile(0.95);
  summary.p99_ns = account.latencies.quantile(0.99);
  summary.p999_ns = account.latencies.quantile(0.999);
  summary.max_ns = account.latencies.max();
  add_labels(account, all, summary);
  return summary;
}

}  // namespace vprof::analyzer
