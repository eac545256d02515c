#include "factors/latency_summary.h"

#include <algorithm>
#include <cmath>

#include "factors/jackknife.h"

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

void add_work(const Account& account, IntervalSummary& summary) {
  const ExplainSums& sums = account.explain;
  const BatchSums total = account.total();
  if (sums.declared == 0 || total.n == 0) {
    return;
  }
  const Explained explained(sums, account.labels, total);
  summary.work.declared = sums.declared;
  summary.work.mean = static_cast<double>(static_cast<long double>(sums.w) / total.n);
  summary.work.ns_per_unit = explained.ns_per_unit();
  summary.work.explained = explained.by_work(0);
}

/// Of mean and variance on a logarithmic scale, where they are closer to normal and positive.
void add_confidence(const Account& account, IntervalSummary& summary) {
  const BatchSums total = account.total();
  const std::vector<Batch> batches = for_confidence(account.batches);
  if (batches.size() < 2 || total.nodes.empty() || summary.variance_ns2 <= 0) {
    return;
  }
  const NodeSums all = total.node(0);
  std::vector<long double> means;
  std::vector<long double> variances;
  for (const Batch& batch : batches) {
    NodeSums left = all;
    left -= batch.sums.node(0);
    const uint64_t n = total.n - batch.sums.n;
    means.push_back(std::log(std::max<long double>(static_cast<long double>(left.x) / n, 1e-9L)));
    variances.push_back(std::log(std::max<long double>(variance(n, left.x, left.xx), 1e-9L)));
  }
  const Estimate mean_log = jackknife(std::log(summary.mean_ns), means, batches, false);
  const Estimate variance_log =
      jackknife(std::log(summary.variance_ns2), variances, batches, false);
  summary.mean_ci95 = {std::exp(mean_log.ci95[0]), std::exp(mean_log.ci95[1])};
  summary.variance_ci95 = {std::exp(variance_log.ci95[0]), std::exp(variance_log.ci95[1])};
  // Neighbours are alike: so many independent intervals would tell as much about the mean. That
  // widens the ranks between which the quantile lies.
  const double n = static_cast<double>(total.n);
  const double relative = summary.stddev_ns / summary.mean_ns;
  const double independent =
      mean_log.error > 0 ? std::min(n, relative * relative / mean_log.error / mean_log.error) : n;
  const double spread = 1.96 * std::sqrt(0.99 * 0.01 / std::max(independent, 1.0));
  summary.p99_ci95 = {account.latencies.quantile(std::max(0.99 - spread, 0.0)),
                      account.latencies.quantile(std::min(0.99 + spread, 1.0))};
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
  if (all.n == 0) {
    return summary;
  }
  summary.mean_ns = static_cast<double>(mean(all));
  summary.variance_ns2 = static_cast<double>(variance(all.n, all.x, all.xx));
  summary.stddev_ns = std::sqrt(summary.variance_ns2);
  summary.p50_ns = account.latencies.quantile(0.5);
  summary.p95_ns = account.latencies.quantile(0.95);
  summary.p99_ns = account.latencies.quantile(0.99);
  summary.p999_ns = account.latencies.quantile(0.999);
  summary.max_ns = account.latencies.max();
  add_labels(account, all, summary);
  add_work(account, summary);
  add_confidence(account, summary);
  return summary;
}

}  // namespace vprof::analyzer
