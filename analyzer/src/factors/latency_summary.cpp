#include "factors/latency_summary.h"

#include <algorithm>
#include <cmath>

#include "factors/jackknife.h"
#include "factors/latency_bins.h"
#include "statistics/significance.h"

namespace vprof::analyzer {
namespace {

constexpr uint64_t kLeastOfLabel = 20;  // intervals, for a confidence interval

/// By the law of total variance, the variance of the labels' means is the part between labels.
void add_labels(const IntervalSums& sums, const LatencySums& all, IntervalSummary& summary) {
  long double between = 0;
  for (const auto& [label, own] : sums.labels) {
    const long double distance = own.mean() - all.mean();
    between +=
        static_cast<long double>(own.n) * distance * distance / static_cast<long double>(all.n);
    LabelSummary& one = summary.labels.emplace_back();
    one.label = label;
    one.count = own.n;
    one.mean_ns = static_cast<double>(own.mean());
    one.variance_ns2 = static_cast<double>(own.variance());
    if (const auto bins = sums.label_bins.find(label); bins != sums.label_bins.end()) {
      const std::vector<LatencyBin> latencies = label_bins_of(bins->second);
      one.p50_ns = quantile_of(latencies, own.n, 0.50);
      one.p95_ns = quantile_of(latencies, own.n, 0.95);
      one.p99_ns = quantile_of(latencies, own.n, 0.99);
    }
  }
  std::stable_sort(summary.labels.begin(), summary.labels.end(),
                   [](const LabelSummary& a, const LabelSummary& b) { return a.count > b.count; });
  const long double total = all.variance();
  if (summary.labels.size() > 1 && total > 0) {
    summary.between_labels = static_cast<double>(between / total);
  }
}

void add_work(const IntervalSums& sums, const BatchSums& total, IntervalSummary& summary) {
  const CovariateSums& covariates = sums.covariates;
  if (covariates.declared == 0 || total.n == 0) {
    return;
  }
  const ExplainedShare explained(covariates, sums.labels, total);
  summary.work.declared = covariates.declared;
  summary.work.mean = static_cast<double>(static_cast<long double>(covariates.w) / total.n);
  summary.work.ns_per_unit = explained.ns_per_unit();
  summary.work.explained = explained.by_work(0);
}

void add_loop_queue(const LoopQueueSums& sums, LoopQueueSummary& summary) {
  summary.begun = sums.waits.count();
  summary.waited = sums.waited;
  if (sums.waited == 0) {
    return;
  }
  const auto ns = static_cast<double>(sums.ns);
  summary.mean_ns = ns / static_cast<double>(summary.begun);
  summary.p99_ns = sums.waits.quantile(0.99);
  summary.share = sums.latency == 0 ? 0 : ns / static_cast<double>(sums.latency);
}

/// 95 % confidence interval of a positive statistic, from the jackknife of its logarithm, which is
/// closer to normal.
struct LogInterval {
  std::array<double, 2> ci95;
  double relative_error;
};

LogInterval log_jackknife(double value, std::vector<long double> without,
                          const std::vector<Batch>& batches) {
  for (long double& one : without) {
    one = std::log(std::max(one, 1e-9L));
  }
  const Estimate estimate = jackknife(std::log(value), without, batches);
  return {{std::exp(estimate.ci95[0]), std::exp(estimate.ci95[1])}, estimate.error};
}

/// As many independent intervals would estimate a mean with the error that it has.
double independent_of(double n, double variation, double relative_error) {
  return relative_error > 0 ? std::min(n, variation * variation / relative_error / relative_error)
                            : n;
}

/// Of a quantile: it lies between two ranks. Those are for so many independent intervals, since
/// neighbouring ones resemble each other. {0, 0}: there are too few intervals for the upper one.
template <class Quantile>
std::array<double, 2> between_ranks(double p, double t, double independent,
                                    const Quantile& quantile) {
  const double reach = t * std::sqrt(p * (1 - p) / std::max(independent, 1.0));
  if (p + reach >= 1) {
    return {};
  }
  return {quantile(std::max(p - reach, 0.0)), quantile(p + reach)};
}

/// There are no batches by label, so as large a part of the intervals with a label counts as
/// independent as of all intervals.
void add_confidence_by_label(const IntervalSums& sums, double independent_part,
                             IntervalSummary& summary) {
  const double t = t_quantile(0.05, summary.degrees);
  for (LabelSummary& label : summary.labels) {
    const double n = std::max(independent_part * static_cast<double>(label.count), 1.0);
    if (label.count < kLeastOfLabel || label.mean_ns <= 0) {
      continue;
    }
    const double error = std::sqrt(label.variance_ns2 / n) / label.mean_ns;
    label.mean_ci95 = {label.mean_ns * std::exp(-t * error), label.mean_ns * std::exp(t * error)};
    const auto bins = sums.label_bins.find(label.label);
    if (bins == sums.label_bins.end()) {
      continue;
    }
    const std::vector<LatencyBin> latencies = label_bins_of(bins->second);
    const auto around = [&](double p) {
      return between_ranks(p, t, n,
                           [&](double q) { return quantile_of(latencies, label.count, q); });
    };
    label.p50_ci95 = around(0.50);
    label.p95_ci95 = around(0.95);
    label.p99_ci95 = around(0.99);
  }
}

void add_confidence(const IntervalSums& sums, const BatchSums& total, IntervalSummary& summary) {
  const std::vector<Batch> batches = join_batches(sums.batches);
  if (batches.size() < 2 || total.nodes.empty() || summary.variance_ns2 <= 0) {
    return;
  }
  std::vector<long double> means;
  std::vector<long double> variances;
  for (const Batch& batch : batches) {
    NodeSums rest = total.node(0);
    rest -= batch.sums.node(0);
    const uint64_t n = total.n - batch.sums.n;
    means.push_back(static_cast<long double>(rest.x) / n);
    variances.push_back(variance(n, rest.x, rest.xx));
  }
  const LogInterval mean = log_jackknife(summary.mean_ns, std::move(means), batches);
  summary.mean_ci95 = mean.ci95;
  summary.degrees = static_cast<double>(batches.size() - 1);
  summary.variance_ci95 = log_jackknife(summary.variance_ns2, std::move(variances), batches).ci95;

  const auto n = static_cast<double>(total.n);
  const double variation = summary.stddev_ns / summary.mean_ns;
  const double independent = independent_of(n, variation, mean.relative_error);
  const double t = t_quantile(0.05, summary.degrees);
  summary.p99_ci95 =
      between_ranks(0.99, t, independent, [&](double q) { return sums.latencies.quantile(q); });
  add_confidence_by_label(sums, independent / n, summary);
}

}  // namespace

IntervalSummary summarize(const IntervalSums& sums) {
  IntervalSummary summary;
  summary.name = sums.interval;
  summary.count = sums.count();
  summary.incomplete = sums.incomplete;
  LatencySums all;
  for (const auto& [label, own] : sums.labels) {
    all += own;
  }
  if (all.n == 0) {
    return summary;
  }
  summary.mean_ns = static_cast<double>(all.mean());
  summary.variance_ns2 = static_cast<double>(all.variance());
  summary.stddev_ns = std::sqrt(summary.variance_ns2);
  summary.p50_ns = sums.latencies.quantile(0.5);
  summary.p95_ns = sums.latencies.quantile(0.95);
  summary.p99_ns = sums.latencies.quantile(0.99);
  summary.p999_ns = sums.latencies.quantile(0.999);
  summary.max_ns = sums.latencies.max();
  const BatchSums total = sums.total();
  add_labels(sums, all, summary);
  add_work(sums, total, summary);
  add_loop_queue(sums.loop_queue, summary.loop_queue);
  add_confidence(sums, total, summary);
  return summary;
}

}  // namespace vprof::analyzer
