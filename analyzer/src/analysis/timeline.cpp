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
  timeline.trace = interval.trace;
  timeline.program = window.processes[window.threads[interval.end_thread].process].program;
  timeline.realtime_ns = scanned.run + (interval.begin - scanned.start);
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
      shown.kinds.push_back(tree.nodes()[node].shown_kind());
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

/// The slowest of the intervals that are asked for.
class Slowest {
 public:
  explicit Slowest(const Sites& sites) : sites_(sites), latencies_(sites) {}

  void add(const Interval& interval, const Scanned& scanned) {
    ++found_;
    if (!timeline_ || latencies_.of(interval, scanned) > timeline_->latency_ns) {
      timeline_ = build_timeline(interval, scanned, sites_);
    }
  }

  /// Nothing: there were none.
  std::optional<Timeline> take() {
    if (timeline_) {
      timeline_->others = found_ - 1;
    }
    return std::move(timeline_);
  }

 private:
  const Sites& sites_;
  Latencies latencies_;
  uint64_t found_ = 0;
  std::optional<Timeline> timeline_;
};

/// visit_timelines() of one part.
Result<void> visit_part(const std::string& trace_dir, const Sites& sites,
                        const std::vector<TimelineRequest>& requests, const Options& options,
                        const std::function<void(size_t, Timeline)>& take) {
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

}  // namespace

Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             uint64_t id, const Options& options) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  std::optional<Timeline> exact;
  Slowest slowest(sites);
  const auto look = [&](const Scanned& scanned) {
    for (const Interval& interval : scanned.intervals) {
      if (static_cast<uint64_t>(interval.id) == id) {
        exact = build_timeline(interval, scanned, sites);
      }
      if (interval.key == id && interval.key != 0) {
        slowest.add(interval, scanned);
      }
    }
  };
  VPROF_TRY(scan(trace_dir, sites, options, look));
  if (exact) {
    return std::move(*exact);
  }
  auto timeline = slowest.take();
  if (!timeline) {
    return fail(
        "{}: no completed interval has the id or key {}; the report names some under "
        "\"worst\"",
        trace_dir, id);
  }
  return std::move(*timeline);
}

Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             const TraceContext& trace, const Options& options) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  Slowest slowest(sites);
  const auto look = [&](const Scanned& scanned) {
    for (const Interval& interval : scanned.intervals) {
      if (interval.trace.high == trace.high && interval.trace.low == trace.low) {
        slowest.add(interval, scanned);
      }
    }
  };
  VPROF_TRY(scan(trace_dir, sites, options, look));
  auto timeline = slowest.take();
  if (!timeline) {
    return fail(
        "{}: no completed interval belongs to the trace {}; an interval gets its trace by "
        "vprof_trace_context() or \"trace_context\" of vprof.json",
        trace_dir, trace.trace_id());
  }
  return std::move(*timeline);
}

Result<void> visit_timelines(const std::string& trace_dir, const std::string& sites_json,
                             const std::vector<TimelineRequest>& requests, const Options& options,
                             const std::function<void(size_t, Timeline)>& take) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  return visit_part(trace_dir, sites, requests, options, take);
}

Result<void> visit_timelines(const std::string& trace_dir, const std::string& sites_json,
                             const std::vector<TimelinePart>& parts, const Options& options,
                             const std::function<void(size_t, size_t, Timeline)>& take) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  Options of_part = options;
  for (size_t part = 0; part < parts.size(); ++part) {
    of_part.epoch = parts[part].epoch;
    VPROF_TRY(visit_part(trace_dir, sites, parts[part].wanted, of_part,
                         [&](size_t i, Timeline timeline) { take(part, i, std::move(timeline)); }));
  }
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
