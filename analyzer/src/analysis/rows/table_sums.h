// Sums of intervals by batch, label and place, for tables.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "statistics/explained_share.h"
#include "statistics/histogram.h"
#include "statistics/moments.h"
#include "vprof/analyzer/table_rows.h"

namespace vprof::analyzer {

/// Adds intervals up, and passes the sums to the sink in parts: whenever they have grown large, and
/// at the end. (They cannot be passed batch by batch: a long interval of the latest batch comes
/// among those of earlier ones.)
class TableSums {
 public:
  explicit TableSums(const TableSink& sink) : sink_(sink) {}

  /// `label`: the number of `interval.label`, in the order in which labels are first seen.
  /// `times`: of all places with time, bodies as well.
  struct PlaceTotal {
    uint32_t place;
    uint64_t ns;
  };
  Result<void> add(const TableInterval& interval, uint64_t batch, uint32_t label,
                   const std::vector<PlaceTotal>& times);
  Result<void> finish();

 private:
  struct Group {
    int64_t begin_ns = INT64_MAX, end_ns = INT64_MIN;
    uint64_t n = 0;
    UInt128 w = 0, ww = 0;
    struct Sums {
      NodeSums sums;
      UInt128 xw = 0;
    };
    std::map<uint32_t, Sums> places;
  };
  using Label = std::optional<std::string>;

  Result<void> pass_on();

  const TableSink& sink_;
  std::map<std::tuple<std::string, uint64_t, Label>, Group> groups_;
  std::map<std::pair<std::string, Label>, Histogram> latencies_;
  size_t entries_ = 0;  // of all groups
};

}  // namespace vprof::analyzer
