#include "vprof/analyzer/timeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "critical_path/critical_path.h"
#include "critical_path/interval_scan.h"

namespace vprof::analyzer {
namespace {

std::string name_of(uint32_t node, const PathTree& tree, const Sites& sites, uint32_t kind) {
  const PathNode& path = tree.nodes()[node];
  if (node == PathTree::kRoot) {
    return sites.interval_name(kind);
  }
  if (path.kind == NodeKind::kFunction) {
    return sites.functions[path.ident].name;
  }
  if (path.kind == NodeKind::kBody) {
    return "(own time)";
  }
  return tree.name(path.ident);
}

NodeKind kind_of(const PathNode& node) {
  return node.kind == NodeKind::kFunction && node.blamed ? NodeKind::kBlame : node.kind;
}

Timeline build_timeline(const Interval& interval, const Scanned& scanned, const Sites& sites) {
  const Window& window = scanned.window;
  PathTree tree(sites);
  PathWalker walker(window, sites, scanned.wake_up_edges(), tree);
  std::vector<PathPiece> pieces;
  walker.record_pieces(&pieces);
  walker.walk(interval);
  Timeline timeline;
  timeline.interval = sites.interval_name(interval.kind);
  timeline.label = scanned.labels[interval.label];
  timeline.begin_ns = interval.begin - scanned.start;
  timeline.id = static_cast<uint64_t>(interval.id);
  timeline.key = interval.key;
  timeline.latency_ns = interval.latency() - walker.set_up();
  std::sort(pieces.begin(), pieces.end(),
            [](const PathPiece& a, const PathPiece& b) { return a.lo < b.lo; });
  int64_t to = 0;
  for (const PathPiece& piece : pieces) {
    const Thread& thread = window.threads[piece.thread];
    TimelinePiece& shown = timeline.pieces.emplace_back();
    // One after the other: between them is only the runtime's own set-up.
    shown.from_ns = to;
    shown.to_ns = to += piece.hi - piece.lo;
    shown.pid = window.processes[thread.process].pid;
    shown.thread = thread.serial;
    shown.tid = thread.tid;
    shown.inferred = piece.inferred;
    shown.monotonic_ns = piece.lo;
    shown.thread_name = thread.name;
    for (uint32_t node = piece.leaf; node != kNone; node = tree.nodes()[node].parent) {
      shown.path.push_back(name_of(node, tree, sites, interval.kind));
      shown.kinds.push_back(kind_of(tree.nodes()[node]));
    }
    std::reverse(shown.path.begin(), shown.path.end());
    std::reverse(shown.kinds.begin(), shown.kinds.end());
  }
  return timeline;
}

/// Latencies, for which the paths must be walked. The window keeps its address.
class Latencies {
 public:
  explicit Latencies(const Sites& sites) : sites_(sites), tree_(sites) {}

  int64_t of(const Interval& interval, const Scanned& scanned) {
    const WakeUpEdges& edges = scanned.wake_up_edges();
    if (!walker_) {
      walker_.emplace(scanned.window, sites_, edges, tree_);
    }
    walker_->walk(interval);
    return interval.latency() - walker_->set_up();
  }

 private:
  const Sites& sites_;
  PathTree tree_;
  std::optional<PathWalker> walker_;
};

}  // namespace

Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             uint64_t id, const Options& options) {
  const auto sites = VPROF_TRY(read_sites(sites_json));
  Latencies latencies(sites);
  std::optional<Timeline> exact;
  Timeline slowest;
  uint64_t found = 0;
  const auto look = [&](const Scanned& scanned) {
    for (const Interval& interval : scanned.intervals) {
      if (static_cast<uint64_t>(interval.id) == id) {
        exact = build_timeline(interval, scanned, sites);
      }
      if (interval.key != id || interval.key == 0) {
        continue;
      }
      ++found;
      if (found == 1 || latencies.of(interval, scanned) > slowest.latency_ns) {
        slowest = build_timeline(interval, scanned, sites);
      }
    }
  };
  VPROF_TRY(scan(trace_dir, sites, options, look));
  if (exact) {
    return std::move(*exact);
  }
  if (found == 0) {
    return fail(
        "{}: no completed interval has the id or key {}; the report names some under "
        "\"worst\"",
        trace_dir, id);
  }
  slowest.others = found - 1;
  return slowest;
}

Result<void> visit_timelines(const std::string& trace_dir, const std::string& sites_json,
                             const std::vector<TimelineRequest>& requests, const Options& options,
                             const std::function<void(size_t, Timeline)>& take) {
  const auto sites = VPROF_TRY(read_sites(sites_json));
  Latencies latencies(sites);
  std::unordered_multimap<uint64_t, size_t> wanted;
  for (size_t i = 0; i < requests.size(); ++i) {
    wanted.emplace(requests[i].id, i);
  }
  const auto look = [&](const Scanned& scanned) {
    for (const Interval& interval : scanned.intervals) {
      auto [one, end] = wanted.equal_range(static_cast<uint64_t>(interval.id));
      while (one != end) {
        const int64_t latency_ns = requests[one->second].latency_ns;
        if (latency_ns > interval.latency() || latencies.of(interval, scanned) != latency_ns) {
          ++one;
          continue;
        }
        take(one->second, build_timeline(interval, scanned, sites));
        one = wanted.erase(one);
      }
    }
  };
  VPROF_TRY(scan(trace_dir, sites, options, look));
  return {};
}

Result<std::vector<Timeline>> timelines_of(const std::string& trace_dir,
                                           const std::string& sites_json,
                                           const std::vector<TimelineRequest>& requests,
                                           const Options& options) {
  std::vector<std::optional<Timeline>> found(requests.size());
  VPROF_TRY(
      visit_timelines(trace_dir, sites_json, requests, options,
                      [&found](size_t i, Timeline timeline) { found[i] = std::move(timeline); }));
  std::vector<Timeline> timelines;
  for (std::optional<Timeline>& one : found) {
    if (one) {
      timelines.push_back(std::move(*one));
    }
  }
  return timelines;
}

}  // namespace vprof::analyzer
