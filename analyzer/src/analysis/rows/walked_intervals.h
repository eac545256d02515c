// The critical path of each interval of a recording, one after the other.
#pragma once

#include <functional>
#include <span>
#include <string>

#include "analysis/node_times.h"
#include "critical_path/interval_scan.h"

namespace vprof::analyzer {

/// Valid during the call that receives it.
struct WalkedInterval {
  const Interval& interval;
  uint64_t latency_ns;
  const std::string& label;
  const Scanned& portion;
  /// Of the nodes on its path, by number: parents first.
  std::span<const NodeTimes::Time> times;
};

/// Calls `take` with each interval, roughly latest first. `tree` receives the nodes. An error of
/// `take` ends the calls and is returned.
Result<ScanResult> walk_intervals(const std::string& trace_dir, const Sites& sites,
                                  const Options& options, PathTree& tree,
                                  const std::function<Result<void>(const WalkedInterval&)>& take);

/// The name of a tree's root: that of the intervals, unless it stands for several kinds.
std::string root_name(const Sites& sites, const Options& options);

}  // namespace vprof::analyzer
