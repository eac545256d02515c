// Confidence intervals of contributions, from batches that follow each other in time.
#pragma once

#include <array>
#include <vector>

#include "factors/variance_tree.h"
#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// An estimate with what is known of its error.
struct Estimate {
  double value = 0;
  double error = 0;  ///< standard error; 0: not known
  std::array<double, 2> ci95{};
};

/// Of `value`, from what it is where one of the batches is left out. `is_part`: it is a part of a
/// whole.
Estimate jackknife(double value, const std::vector<long double>& left,
                   const std::vector<Batch>& batches, bool is_part);

/// Joins neighbours, so that batches are long against the time over which intervals are alike, and
/// skewed sums come closer to normal: fewer the fewer intervals there are (docs/analysis.md has the
/// experiment). Batches of different recordings are not joined.
std::vector<Batch> for_confidence(const std::vector<Batch>& batches);

/// 95 % confidence intervals by the jackknife that leaves out one batch at a time, batches being of
/// unequal size (Busing, Meijer and van der Leeden 1999). Neighbouring intervals share contention,
/// so neighbours are left out together.
class Jackknife {
 public:
  Jackknife(const VarianceTree& tree, const std::vector<Batch>& batches);

  /// Of the sum of these nodes and pairs of the tree (2 Cov of a pair): as a part of Var(latency),
  /// and in ns². With fewer than two batches without error.
  struct Pair {
    Estimate contribution, variance_ns2;
  };
  Pair estimate(double contribution, const std::vector<uint32_t>& nodes,
                const std::vector<uint32_t>& pairs) const;

 private:
  NodeSums sum(uint32_t place) const;
  long double variance_without(NodeSums total, uint32_t place, const BatchSums& batch) const;
  void add_node(uint32_t place, std::vector<long double>& left) const;
  void add_pair(const TreePair& pair, std::vector<long double>& left) const;

  const VarianceTree& tree_;
  const std::vector<Batch> batches_;
  uint64_t n_ = 0;
  std::vector<long double> without_;  // variance of the latency without batch b
};

}  // namespace vprof::analyzer
