// How much of the variance goes with what is known of an interval before it runs: its label, and
// the amount of work that the program declared for it (vprof_work).
//
// With such a thing K, what is to be expected of the latency is E[T|K]: the mean of the label, or
// the line of least squares over the amount of work. Cov(X, E[T|K]) / Var(T) is the part of the
// share of X that goes with K. Shares add up over siblings, and so do these parts; at the root it
// is the part of the variance that K explains (for labels the law of total variance, for work r²).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "statistics/moments.h"

namespace vprof::analyzer {

/// More labels than that are kinds of nothing; what goes with them by place is not added up then.
inline constexpr size_t kMostLabels = 64;

/// Sums by place; what is not there is 0. Adding is exact and order-free, as with all sums here.
struct ExplainSums {
  uint64_t declared = 0;                                 ///< intervals with an amount of work
  UInt128 w = 0, ww = 0;                                 ///< of the amounts
  std::vector<UInt128> xw;                               ///< time of a place times amount
  std::map<std::string, std::vector<UInt128>> by_label;  ///< time of a place

  /// Adds sums whose places are at `to` here.
  void add(const ExplainSums& other, const std::vector<uint32_t>& to);
};

struct LabelSums;

/// The two parts by place.
class Explained {
 public:
  /// `x` are the sums of all places over n intervals, the first one's of the latency; `labels`
  /// those of the latency by label. Where the sums are not of the same intervals, nothing is
  /// explained.
  Explained(const ExplainSums& sums, const std::map<std::string, LabelSums>& labels,
            const BatchSums& x);

  /// As a part of the variance of the latency.
  double by_work(uint32_t place) const;
  double by_label(uint32_t place) const;
  /// Of the line of least squares: ns per unit of work; 0 if nothing is declared.
  double ns_per_unit() const { return static_cast<double>(slope_); }

 private:
  const ExplainSums& sums_;
  const BatchSums& x_;
  long double latency_variance_ = 0;
  long double slope_ = 0;
  std::vector<std::pair<const std::vector<UInt128>*, long double>>
      labels_;  // times by place, mean latency of the label less that of all
};

}  // namespace vprof::analyzer
