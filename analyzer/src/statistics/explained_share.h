// How much of a node's share goes with what is known about an interval before it runs: its label,
// and the amount of work that the program declares for it (vprof_work).
//
// Let K be one of the two, and E[T|K] the latency to be expected from it: the mean latency of the
// label, or the least-squares line over the amount of work. Then
//
//   Cov(X, E[T|K]) / Var(T)
//
// is the part of the share of X that goes with K. Shares add up over siblings, and so do these
// parts. At the root the part is what K explains of the variance: for labels by the law of total
// variance, for work as r².
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "statistics/moments.h"

namespace vprof::analyzer {

/// With more labels than this, a label no longer names a kind of interval, and times are not added
/// up by label.
inline constexpr size_t kMostLabels = 64;

/// Sums of the times of places with a covariate (label, work). Missing entries are 0. Adding is
/// exact and does not depend on the order.
struct CovariateSums {
  uint64_t declared = 0;                                 ///< intervals with an amount of work
  UInt128 w = 0, ww = 0;                                 ///< Σw, Σw²
  std::vector<UInt128> xw;                               ///< Σxw by place
  std::map<std::string, std::vector<UInt128>> by_label;  ///< Σx by label, then place

  /// Adds the sums of another tree, whose place i is place `to[i]` here.
  void add(const CovariateSums& other, const std::vector<uint32_t>& to);
};

/// The two parts of each place's share. Refers to its arguments, which must outlive it.
class ExplainedShare {
 public:
  /// `total` are the sums of all places, place 0 being the interval; `labels` are the latencies by
  /// label. If by_label is not of the same intervals as `labels`, labels explain nothing.
  ExplainedShare(const CovariateSums& sums, const std::map<std::string, LatencySums>& labels,
                 const BatchSums& total);

  /// The part that goes with the amount of work, as a fraction of Var(T).
  double by_work(uint32_t place) const;
  /// The part that goes with the label, as a fraction of Var(T).
  double by_label(uint32_t place) const;
  /// Slope of the least-squares line of latency over work, ns per unit; 0 if no work is declared.
  double ns_per_unit() const { return static_cast<double>(slope_); }

 private:
  struct LabelTimes {
    const std::vector<UInt128>* by_place;  // Σx
    long double mean_excess;               // mean latency of the label - that of all, ns
  };

  const CovariateSums& sums_;
  const BatchSums& total_;
  long double latency_variance_ = 0;
  long double slope_ = 0;
  std::vector<LabelTimes> labels_;
};

}  // namespace vprof::analyzer
