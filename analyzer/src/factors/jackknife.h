// Standard errors and confidence intervals by the jackknife, from batches of intervals that follow
// each other in time.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "factors/tail_shares.h"
#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// An estimate and its error.
struct Estimate {
  double value = 0;
  double error = 0;              ///< standard error; 0: unknown, or the value is certain
  double degrees = 0;            ///< of freedom of the error; 0: unknown
  std::array<double, 2> ci95{};  ///< {value, value} if the error is unknown
};

/// The delete-one jackknife for batches of unequal size (Busing, Meijer and van der Leeden 1999),
/// with Student's t. `without[b]` is the statistic without batch b. With fewer than two batches the
/// error is unknown.
Estimate jackknife(double value, const std::vector<long double>& without,
                   const std::vector<Batch>& batches);

/// Joins neighbouring batches of one recording until about n^(1/4) are left, for n intervals, but
/// no fewer than 6 unless there are fewer slices, of which only parts of 100 intervals count. Long
/// batches cover the time over which intervals resemble each other, and bring skewed sums closer to
/// normal. docs/analysis.md measures the effect on coverage.
std::vector<Batch> join_batches(const std::vector<Batch>& batches);

/// What the jackknife says about a factor.
struct FactorEstimate {
  Estimate contribution;  ///< as a fraction of Var(latency)
  Estimate variance_ns2;
  Estimate share;       ///< of a variance only
  Estimate covariance;  ///< Cov(factor, latency), ns²; of a variance only
  Estimate tail_share;  ///< of a variance only; degrees 0: unknown
  /// The p-value of the hypothesis that the share, or the covariance of a pair, is 0.
  double p = 1;
};

/// Confidence intervals of factors. Intervals close in time share their contention, so neighbours
/// are left out together. Every figure is estimated from few long batches and from more and shorter
/// ones; the greater error counts. Refers to its arguments, which must outlive it.
class Jackknife {
 public:
  /// `tail`: null if there are no tail shares.
  Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches, const TailShares* tail);

  /// Of what takes the time of these places together, none of which is within another. The tail
  /// share is estimated if it is given.
  FactorEstimate of_places(const std::vector<uint32_t>& places, double contribution, double share,
                           std::optional<double> tail_share) const;
  /// Of Σ 2 Cov of these pairs of the tree.
  FactorEstimate of_pairs(const std::vector<uint32_t>& pairs, double contribution) const;

 private:
  /// The batches joined to one length.
  struct Joined {
    explicit Joined(std::vector<Batch> joined, const TailShares* tail);
    Joined(const Joined&) = delete;
    Joined& operator=(const Joined&) = delete;

    std::vector<Batch> batches;
    BatchSums total;
    std::vector<long double> latency_variance;  // without each batch
    TailJackknife tail;
  };
  void places_of(const Joined& joined, const std::vector<uint32_t>& places, FactorEstimate& into,
                 std::optional<double> tail_share) const;
  void pairs_of(const Joined& joined, const std::vector<uint32_t>& pairs,
                FactorEstimate& into) const;

  const VarianceTree& tree_;
  const Joined long_;
  const Joined short_;
};

}  // namespace vprof::analyzer
