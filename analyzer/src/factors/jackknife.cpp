#include "factors/jackknife.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "statistics/significance.h"

namespace vprof::analyzer {
namespace {

// n intervals make max(kFewestBatches, n^kBatchPower) long batches: 6 for 1,000, 10 for 10,000, 18
// for 100,000.
constexpr double kBatchPower = 0.25;
constexpr double kFewestBatches = 6;
constexpr double kShortBatches = 16;
// Fewer slices than kFewestBatches are divided into batches of at least this many intervals.
constexpr uint64_t kOfSlice = 100;

// On the logit scale, the reach of an interval around next to nothing, or next to all, is a
// quotient of two small figures. It changes the odds by no more than exp(3) = 20.
constexpr double kMostLogit = 3;

uint64_t count_of(const std::vector<Batch>& batches) {
  uint64_t n = 0;
  for (const Batch& batch : batches) {
    n += batch.sums.n;
  }
  return n;
}

std::vector<Batch> join_to(const std::vector<Batch>& batches, double wanted) {
  const auto joined =
      static_cast<size_t>(std::max(1.0, std::round(static_cast<double>(batches.size()) / wanted)));
  std::vector<Batch> result;
  size_t in_last = joined;
  for (const Batch& batch : batches) {
    if (in_last == joined || result.back().run != batch.run) {
      result.push_back(batch);
      in_last = 1;
    } else {
      result.back().sums += batch.sums;
      ++in_last;
    }
  }
  return result;
}

/// Makes one batch of each slice of a recording that paused. A slice is short beside its distance
/// to the next one, so the intervals in it resemble each other more than those of others.
std::vector<Batch> join_slices(const std::vector<Batch>& batches) {
  std::map<int64_t, std::set<int64_t>> slices;  // by run
  for (const Batch& batch : batches) {
    slices[batch.run].insert(batch.slice);
  }
  std::vector<Batch> result;
  for (const Batch& batch : batches) {
    const auto count = static_cast<double>(slices[batch.run].size());
    const uint64_t whole = count < kFewestBatches ? kOfSlice : UINT64_MAX;
    if (count > 1 && !result.empty() && result.back().run == batch.run &&
        result.back().slice == batch.slice && result.back().sums.n < whole) {
      result.back().sums += batch.sums;
    } else {
      result.push_back(batch);
    }
  }
  return result;
}

double reach_of(const Estimate& estimate) {
  return estimate.degrees > 0 ? t_quantile(kSignificance, estimate.degrees) * estimate.error : 0;
}

void raise_error(Estimate& estimate, double least) {
  if (estimate.error < least) {
    estimate.error = least;
    const double reach = reach_of(estimate);
    estimate.ci95 = {estimate.value - reach, estimate.value + reach};
  }
}

/// Keeps the estimate with the wider confidence interval.
void keep_wider(Estimate& kept, const Estimate& other) {
  if (kept.degrees <= 0 || reach_of(other) > reach_of(kept)) {
    kept = other;
  }
}

/// Whether the estimate may be 0. Few batches have few degrees of freedom, with which nothing could
/// pass a hundred tests, and short ones a smaller error than the true one where neighbours resemble
/// each other. So the greater error counts, with the degrees of freedom of the short batches.
double p_of_zero(const Estimate& from_long, const Estimate& from_short) {
  return analyzer::p_of_zero(from_short.value, std::max(from_long.error, from_short.error),
                             from_short.degrees);
}

/// Variances have long tails to the right, so the interval of one that is a part of the whole
/// reaches up at least as far as it does on the logit scale, and down as far as on the plain one:
/// there it may contain 0.
void widen_fraction(Estimate& estimate) {
  const double value = estimate.value;
  if (estimate.degrees <= 0 || value <= 0 || value >= 1) {
    return;
  }
  const double width = std::min(reach_of(estimate) / (value * (1 - value)), kMostLogit);
  const double logit = std::log(value / (1 - value));
  estimate.ci95[0] = std::min(estimate.ci95[0], 1 / (1 + std::exp(width - logit)));
  estimate.ci95[1] = std::max(estimate.ci95[1], 1 / (1 + std::exp(-width - logit)));
}

/// Of each figure, the estimate with the wider confidence interval.
FactorEstimate wider_of(const FactorEstimate& from_long, const FactorEstimate& from_short) {
  FactorEstimate estimate = from_long;
  keep_wider(estimate.contribution, from_short.contribution);
  keep_wider(estimate.variance_ns2, from_short.variance_ns2);
  keep_wider(estimate.share, from_short.share);
  keep_wider(estimate.covariance, from_short.covariance);
  keep_wider(estimate.tail_share, from_short.tail_share);
  widen_fraction(estimate.contribution);
  widen_fraction(estimate.share);
  widen_fraction(estimate.tail_share);
  return estimate;
}

/// Of a quotient without each batch.
std::vector<long double> over(std::vector<long double> values,
                              const std::vector<long double>& divisors) {
  for (size_t b = 0; b < values.size(); ++b) {
    values[b] = divisors[b] > 0 ? values[b] / divisors[b] : 0;
  }
  return values;
}

}  // namespace

Estimate jackknife(double value, const std::vector<long double>& without,
                   const std::vector<Batch>& batches) {
  if (without.size() < 2) {
    return {value, 0, 0, {value, value}};
  }
  const auto g = static_cast<long double>(without.size());
  const auto n = static_cast<long double>(count_of(batches));
  long double centre = g * value;
  for (size_t b = 0; b < without.size(); ++b) {
    centre -= (1 - static_cast<long double>(batches[b].sums.n) / n) * without[b];
  }
  long double squares = 0;
  for (size_t b = 0; b < without.size(); ++b) {
    const long double h = n / static_cast<long double>(batches[b].sums.n);
    const long double distance = h * value - (h - 1) * without[b] - centre;
    squares += distance * distance / (h - 1);
  }
  Estimate estimate{value,
                    static_cast<double>(std::sqrt(squares / g)),
                    static_cast<double>(without.size() - 1),
                    {}};
  const double reach = reach_of(estimate);
  estimate.ci95 = {value - reach, value + reach};
  return estimate;
}

std::vector<Batch> join_batches(const std::vector<Batch>& batches) {
  const auto n = static_cast<double>(count_of(batches));
  return join_to(join_slices(batches), std::max(kFewestBatches, std::pow(n, kBatchPower)));
}

Jackknife::Joined::Joined(std::vector<Batch> joined, const TailShares* tail_shares)
    : batches(std::move(joined)), tail(tail_shares, batches) {
  if (batches.size() < 2) {
    return;
  }
  for (const Batch& batch : batches) {
    total += batch.sums;
  }
  const NodeSums latency = total.node(0);
  for (const Batch& batch : batches) {
    NodeSums rest = latency;
    rest -= batch.sums.node(0);
    latency_variance.push_back(variance(total.n - batch.sums.n, rest.x, rest.xx));
  }
}

Jackknife::Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches,
                     const TailShares* tail)
    : tree_(tree),
      long_(join_batches(batches), tail),
      short_(join_to(batches, kShortBatches), tail) {}

FactorEstimate Jackknife::of_places(const std::vector<uint32_t>& places, double contribution,
                                    double share, std::optional<double> tail_share) const {
  const double all = tree_.nodes[0].variance_ns2;
  const auto from = [&](const Joined& joined) {
    FactorEstimate one;
    one.contribution.value = contribution;
    one.variance_ns2.value = contribution * all;
    one.share.value = share;
    one.covariance.value = share * all;
    places_of(joined, places, one, tail_share);
    return one;
  };
  const FactorEstimate from_long = from(long_);
  const FactorEstimate from_short = from(short_);
  FactorEstimate estimate = wider_of(from_long, from_short);
  estimate.p = p_of_zero(from_long.share, from_short.share);
  return estimate;
}

FactorEstimate Jackknife::of_pairs(const std::vector<uint32_t>& pairs, double contribution) const {
  const auto from = [&](const Joined& joined) {
    FactorEstimate one;
    one.contribution.value = contribution;
    one.variance_ns2.value = contribution * tree_.nodes[0].variance_ns2;
    pairs_of(joined, pairs, one);
    return one;
  };
  const FactorEstimate from_long = from(long_);
  const FactorEstimate from_short = from(short_);
  FactorEstimate estimate = wider_of(from_long, from_short);
  estimate.p = p_of_zero(from_long.contribution, from_short.contribution);
  return estimate;
}

void Jackknife::places_of(const Joined& joined, const std::vector<uint32_t>& places,
                          FactorEstimate& into, std::optional<double> tail_share) const {
  NodeSums all;
  UInt128 others = 0;
  for (const uint32_t place : places) {
    all += joined.total.node(place);
    others += joined.total.with_others(place);
  }
  std::vector<long double> variances;
  std::vector<long double> covariances;
  for (size_t b = 0; b < joined.latency_variance.size(); ++b) {
    const BatchSums& batch = joined.batches[b].sums;
    NodeSums rest = all;
    UInt128 rest_others = others;
    for (const uint32_t place : places) {
      rest -= batch.node(place);
      rest_others -= batch.with_others(place);
    }
    const uint64_t n = joined.total.n - batch.n;
    variances.push_back(variance(n, rest.x, rest.xx + rest_others));
    covariances.push_back(covariance(n, rest.x, joined.total.node(0).x - batch.node(0).x, rest.xt));
  }
  const std::vector<Batch>& batches = joined.batches;
  into.variance_ns2 = jackknife(into.variance_ns2.value, variances, batches);
  into.covariance = jackknife(into.covariance.value, covariances, batches);
  into.contribution = jackknife(into.contribution.value,
                                over(std::move(variances), joined.latency_variance), batches);
  into.share =
      jackknife(into.share.value, over(std::move(covariances), joined.latency_variance), batches);
  if (tail_share) {
    into.tail_share = jackknife(*tail_share, joined.tail.without_each(places), batches);
    const double s = *tail_share;
    const double residual_ns2 = into.variance_ns2.value - 2 * s * into.covariance.value +
                                s * s * tree_.nodes[0].variance_ns2;
    if (into.tail_share.degrees > 0) {
      const double t = t_quantile(kSignificance, into.tail_share.degrees);
      raise_error(into.tail_share, joined.tail.least_error(std::max(0.0, residual_ns2), t * t));
    }
  }
}

void Jackknife::pairs_of(const Joined& joined, const std::vector<uint32_t>& pairs,
                         FactorEstimate& into) const {
  std::vector<long double> without(joined.latency_variance.size());
  for (const uint32_t index : pairs) {
    const TreePair& pair = tree_.pairs[index];
    const TreeNode* a = &tree_.nodes[pair.a];
    const TreeNode* b = &tree_.nodes[pair.b];
    if (a->rank > b->rank) {
      std::swap(a, b);
    }
    const UInt128 x = joined.total.node(a->place).x;
    const UInt128 y = joined.total.node(b->place).x;
    const UInt128 xy = joined.total.product(b->place, a->rank);
    for (size_t i = 0; i < without.size(); ++i) {
      const BatchSums& batch = joined.batches[i].sums;
      without[i] +=
          2 * covariance(joined.total.n - batch.n, x - batch.node(a->place).x,
                         y - batch.node(b->place).x, xy - batch.product(b->place, a->rank));
    }
  }
  into.variance_ns2 = jackknife(into.variance_ns2.value, without, joined.batches);
  into.contribution = jackknife(into.contribution.value,
                                over(std::move(without), joined.latency_variance), joined.batches);
}

}  // namespace vprof::analyzer
