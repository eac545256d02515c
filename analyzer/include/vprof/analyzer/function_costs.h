// What the calls of one function cost the intervals, call site by call site: for its source.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// Time on critical paths, over all intervals; 0 in those without any.
struct PlaceCost {
  /// Intervals in which it had time.
  uint64_t count = 0;
  double mean_ns = 0, stddev_ns = 0;
  /// Cov(X, T) / Var(T): adds up over calls.
  double share = 0;
  /// The part of `mean_ns` in which others waited for it: blame.
  double blame_mean_ns = 0;
};

/// A call site, or a wait that belongs to no call that is measured.
struct CallCost {
  /// The callee, or `wait(...)`.
  std::string callee;
  /// Key of the callee in sites.json; empty for waits.
  std::string key;
  /// Of the call; line 0: not known.
  std::string file;
  uint32_t line = 0, column = 0;
  /// Calls that threads made while they worked for an interval, per interval.
  double calls = 0;
  PlaceCost cost;
};

struct FunctionCosts {
  std::string key;
  /// The kind of interval, how many completed, and their mean latency.
  std::string interval;
  uint64_t intervals = 0;
  double mean_ns = 0;
  /// Per interval; 0 if none is measured.
  double calls = 0;
  /// All of the function, and its own time. This and the sites add up to the former.
  PlaceCost whole, own;
  /// In order of file, line and column; those without a line last, largest share first.
  std::vector<CallCost> sites;
};

/// From one pass over a recording, in the order of `keys`. Options::interval empty: the kind with
/// the most completed intervals. Errors as for analyze().
/// @param slices what counts of the recording, in order; empty: Options::epoch
Result<std::vector<FunctionCosts>> costs_of(const std::string& trace_dir,
                                            const std::string& sites_json,
                                            const std::vector<std::string>& keys,
                                            const Options& options,
                                            std::span<const Epoch> slices = {});

}  // namespace vprof::analyzer
