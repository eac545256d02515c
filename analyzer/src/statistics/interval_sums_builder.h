// Adds up interval sums, each with a numbering of places of its own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "statistics/interval_sums.h"

namespace vprof::analyzer {

/// The result does not depend on the order of the add() calls. Parameters named `to` map the
/// numbers of places in what is added to numbers in the result, which place() assigns.
class IntervalSumsBuilder {
 public:
  /// As PlaceIndex.
  uint32_t place(uint32_t parent, const Place& place) { return places_.number_of(parent, place); }
  /// How many there are.
  size_t places() const { return places_.places().size(); }

  /// Adds one batch. `children`: by place in what is added, by rank.
  void add(const Batch& batch, const std::vector<std::vector<uint32_t>>& children,
           const std::vector<uint32_t>& to);
  /// Joins batches of order UINT64_MAX - 2i and UINT64_MAX - 2i - 1 to one of UINT64_MAX - i.
  void halve_batches();
  void add(const TailSums& tail, uint32_t place);
  void add(const PlaceExemplars& exemplars, uint32_t place);
  void add(const CovariateSums& covariates, const std::vector<uint32_t>& to);
  /// `run`, if given, replaces the run of each interval.
  void add(IntervalSample sample, const std::vector<uint32_t>& to, std::optional<int64_t> run = {});
  void add(const Losses& losses);
  void add(const IntervalSums& sums);

  /// The sum. Places are in canonical_order(), batches in order of time. Call once, at the end.
  IntervalSums finish();

 private:
  /// Adds to the batch of the same run and order.
  void join(Batch&& batch);

  PlaceIndex places_;
  IntervalSums sum_;                                       // without the places
  std::map<std::pair<int64_t, uint64_t>, Batch> batches_;  // by run and order
};

}  // namespace vprof::analyzer
