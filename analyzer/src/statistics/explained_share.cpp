#include "statistics/explained_share.h"

#include "statistics/interval_sums.h"

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

void ExplainSums::add(const ExplainSums& other, const std::vector<uint32_t>& to) {
  declared += other.declared;
  w += other.w;
  ww += other.ww;
  add_moved(xw, other.xw, to);
  for (const auto& [label, times] : other.by_label) {
    add_moved(by_label[label], times, to);
  }
}

Explained::Explained(const ExplainSums& sums, const std::map<std::string, LabelSums>& labels,
                     const BatchSums& x)
    : sums_(sums), x_(x) {
  if (x.n == 0) {
    return;
  }
  const NodeSums latency = x.node(0);
  latency_variance_ = variance(x.n, latency.x, latency.xx);
  const long double work_variance = variance(x.n, sums.w, sums.ww);
  if (work_variance > 0) {
    slope_ = covariance(x.n, latency.x, sums.w, at(sums.xw, 0)) / work_variance;
  }
  if (labels.size() < 2) {
    return;
  }
  const long double mean = static_cast<long double>(latency.x) / x.n;
  for (const auto& [label, own] : labels) {
    const auto times = sums.by_label.find(label);
    if (times == sums.by_label.end() || at(times->second, 0) != own.x) {
      labels_.clear();
      return;
    }
    labels_.emplace_back(&times->second, static_cast<long double>(own.x) / own.n - mean);
  }
}

double Explained::by_work(uint32_t place) const {
  if (slope_ == 0 || latency_variance_ <= 0) {
    return 0;
  }
  const long double together = covariance(x_.n, x_.node(place).x, sums_.w, at(sums_.xw, place));
  return static_cast<double>(slope_ * together / latency_variance_);
}

/// Σ over labels of (mean latency of the label - mean) Σ x / n: Cov(X, E[T|label]), since the
/// distances of the labels' means weighted by their number add up to 0.
double Explained::by_label(uint32_t place) const {
  if (latency_variance_ <= 0) {
    return 0;
  }
  long double together = 0;
  for (const auto& [times, distance] : labels_) {
    together += distance * static_cast<long double>(at(*times, place));
  }
  return static_cast<double>(together / x_.n / latency_variance_);
}

}  // namespace vprof::analyzer
