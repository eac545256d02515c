#include "analysis/rows/walked_intervals.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace vprof::analyzer {

Result<ScanResult> walk_intervals(const std::string& trace_dir, const Sites& sites,
                                  const Options& options, PathTree& tree,
                                  const std::function<Result<void>(const WalkedInterval&)>& take) {
  std::unique_ptr<PathWalker> walker;
  NodeTimes node_times;
  std::vector<NodeTimes::Time> times;
  Result<void> taken;
  const auto take_portion = [&](const Scanned& portion) {
    const WakeUpEdges& edges = portion.wake_up_edges();
    if (!walker) {
      walker = std::make_unique<PathWalker>(portion.window, sites, edges, tree);
    }
    for (const Interval& interval : portion.intervals) {
      if (!taken) {
        return;
      }
      const auto found = node_times.add_up(walker->walk(interval), tree);
      times.assign(found.begin(), found.end());
      std::erase_if(times, [](const NodeTimes::Time& time) { return time.ns == 0; });
      std::sort(times.begin(), times.end(),
                [](const auto& a, const auto& b) { return a.node < b.node; });
      const auto latency = static_cast<uint64_t>(interval.latency() - walker->set_up());
      taken = take({interval, latency, portion.labels[interval.label], portion, times});
    }
  };
  const ScanResult scanned = VPROF_TRY(scan(trace_dir, sites, options, take_portion));
  VPROF_TRY(taken);
  return scanned;
}

std::string root_name(const Sites& sites, const Options& options) {
  if (!options.interval.empty()) {
    return options.interval;
  }
  return sites.intervals.size() > 1 ? "interval" : sites.interval_name(0);
}

}  // namespace vprof::analyzer
