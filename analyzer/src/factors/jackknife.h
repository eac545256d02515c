// Standard errors and confidence intervals by the jackknife, from batches of intervals that follow
// each other in time.
#pragma once

#include <array>
#include <vector>

#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// An estimate and its error.
struct Estimate {
  double value = 0;
  double error = 0;              ///< standard error; 0: unknown
  std::array<double, 2> ci95{};  ///< {value, value} if the error is unknown
};

/// The delete-one jackknife for batches of unequal size (Busing, Meijer and van der Leeden 1999),
/// with Student's t. `without[b]` is the statistic without batch b. With fewer than two batches the
/// error is unknown. `is_fraction`: the value is a part of a whole, so its confidence interval is
/// symmetric on the logit scale and stays within 0 and 1.
Estimate jackknife(double value, const std::vector<long double>& without,
                   const std::vector<Batch>& batches, bool is_fraction);

/// Joins neighbouring batches of one recording until about n^(1/4) are left, for n intervals, but
/// no fewer than 6. Long batches cover the time over which intervals resemble each other, and bring
/// skewed sums closer to normal. docs/analysis.md measures the effect on coverage.
std::vector<Batch> join_batches(const std::vector<Batch>& batches);

/// Confidence intervals of factors. Intervals close in time share their contention, so neighbours
/// are left out together. Refers to the tree, which must outlive it.
class Jackknife {
 public:
  Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches);

  struct FactorEstimate {
    Estimate contribution;  ///< as a fraction of Var(latency)
    Estimate variance_ns2;
  };
  /// The error of `contribution`, which is the sum over these nodes and pairs of the tree (2 Cov of
  /// a pair).
  FactorEstimate estimate(double contribution, const std::vector<uint32_t>& nodes,
                          const std::vector<uint32_t>& pairs) const;

 private:
  NodeSums sum(uint32_t place) const;
  long double variance_without(NodeSums total, uint32_t place, const BatchSums& batch) const;
  void add_node(uint32_t place, std::vector<long double>& without) const;
  void add_pair(const TreePair& pair, std::vector<long double>& without) const;

  const VarianceTree& tree_;
  const std::vector<Batch> batches_;
  uint64_t n_ = 0;
  std::vector<long double> latency_variance_without_;  // by batch
};

}  // namespace vprof::analyzer
