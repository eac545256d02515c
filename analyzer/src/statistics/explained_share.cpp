#include "statistics/explained_share.h"

namespace vprof::analyzer {
namespace {

UInt128 at(const std::vector<UInt128>& sums, uint32_t place) {
  return place < sums.size() ? sums[place] : 0;
}

void add_moved(std::vector<UInt128>& sums, const std::vector<UInt128>& other,
               const std::vector<uint32_t>& to) {
  for (uint32_t i = 0; i < other.size(); ++i) {
    if (other[i] == 0) {
      continue;
    }
    if (sums.size() <= to[i]) {
      sums.resize(to[i] + 1);
    }
    sums[to[i]] += other[i];
  }
}

}  // namespace

void CovariateSums::add(const CovariateSums& other, const std::vector<uint32_t>& to) {
  declared += other.declared;
  w += other.w;
  ww += other.ww;
  add_moved(xw, other.xw, to);
  for (const auto& [label, times] : other.by_label) {
    add_moved(by_label[label], times, to);
  }
}

ExplainedShare::ExplainedShare(const CovariateSums& sums,
                               const std::map<std::string, LatencySums>& labels,
                               const BatchSums& total)
    : sums_(sums), total_(total) {
  if (total.n == 0) {
    return;
  }
  const NodeSums latency = total.node(0);
  latency_variance_ = variance(total.n, latency.x, latency.xx);
  const long double work_variance = variance(total.n, sums.w, sums.ww);
  if (work_variance > 0) {
    slope_ = covariance(total.n, latency.x, sums.w, at(sums.xw, 0)) / work_variance;
  }
  if (labels.size() < 2) {
    return;
  }
  const long double mean = static_cast<long double>(latency.x) / total.n;
  for (const auto& [label, own] : labels) {
    const auto times = sums.by_label.find(label);
    if (times == sums.by_label.end() || at(times->second, 0) != own.x) {
      labels_.clear();
      return;
    }
    labels_.push_back({&times->second, own.mean() - mean});
  }
}

double ExplainedShare::by_work(uint32_t place) const {
  if (slope_ == 0 || latency_variance_ <= 0) {
    return 0;
  }
  const long double xw = covariance(total_.n, total_.node(place).x, sums_.w, at(sums_.xw, place));
  return static_cast<double>(slope_ * xw / latency_variance_);
}

// Cov(X, E[T|label]) = Σ over labels of (mean latency of the label - mean latency) Σx / n, because
// the excesses of the labels, weighted by their counts, add up to 0.
double ExplainedShare::by_label(uint32_t place) const {
  if (latency_variance_ <= 0) {
    return 0;
  }
  long double sum = 0;
  for (const LabelTimes& label : labels_) {
    sum += label.mean_excess * static_cast<long double>(at(*label.by_place, place));
  }
  return static_cast<double>(sum / total_.n / latency_variance_);
}

}  // namespace vprof::analyzer
