// What the slowest 1 % of the intervals take longer than the mean, and which places make it up:
//
//   tail share = (E[x | tail] - E[x]) / (E[T | tail] - E[T])
//
// The tail is exact while the profile keeps all of its intervals (IntervalSample::worst). Beyond
// that it comes from the bins of TailSums, unless they are too wide to tell the tail from the rest:
// then the shares are unknown.
#pragma once

#include <cstdint>
#include <vector>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

class TailShares {
 public:
  /// `total`: the sums of all batches. Refers to both, which must outlive it.
  TailShares(const IntervalSums& sums, const BatchSums& total);

  bool known() const { return excess_ > 0; }
  /// Whether it comes from the intervals of the tail themselves.
  bool exact() const { return !intervals_.empty(); }
  /// 0 if unknown.
  double of(uint32_t place) const;

 private:
  friend class TailJackknife;

  void from_intervals(uint64_t count);
  void from_bins();
  long double mean(uint32_t place) const;

  const IntervalSums& sums_;
  const BatchSums& total_;
  std::vector<const SampledInterval*> intervals_;  // slowest first
  std::vector<long double> tail_mean_;             // by place, ns
  long double excess_ = 0;                         // of the latency, ns; 0: unknown
};

/// Tail shares of the intervals outside one batch after the other. Refers to its arguments, which
/// must outlive it.
class TailJackknife {
 public:
  /// `tail`: null if there are no tail shares. `batches`: by run, then time.
  TailJackknife(const TailShares* tail, const std::vector<Batch>& batches);

  /// By batch: the tail share without it of what takes the time of these places, none of which is
  /// within another. Empty if it is unknown.
  std::vector<long double> without_each(const std::vector<uint32_t>& places) const;

  /// The least standard error of a tail share s whose residual x - s T has this variance over all
  /// intervals, ns². What is in a sixth of the intervals is in none of the ten slowest in one
  /// report of six, and then leaving some of them out changes nothing. So it is at least as if
  /// `added` more intervals, chosen from all of them, were in the tail: the square of the quantile,
  /// as Agresti and Coull (1998) do.
  double least_error(long double residual_ns2, double added) const;

 private:
  const TailShares* tail_;
  const std::vector<Batch>& batches_;
  // By batch, then interval, up to the last one that is slow enough; they add up to 1.
  std::vector<std::vector<long double>> weights_;
  size_t slow_ = 0;                  // the most intervals that any of them has
  std::vector<long double> excess_;  // of the latency, by batch, ns
};

}  // namespace vprof::analyzer
