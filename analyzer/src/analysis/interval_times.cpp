#include "vprof/analyzer/interval_times.h"

#include <algorithm>
#include <memory>

#include "analysis/node_times.h"
#include "critical_path/interval_scan.h"
#include "statistics/places.h"

namespace vprof::analyzer {
namespace {

/// Passes intervals and places to the sink. The tree has one root for intervals of all kinds.
class RowWriter {
 public:
  RowWriter(const Sites& sites, const IntervalSink& sink, const std::string& root)
      : sites_(sites), sink_(sink), root_(root), tree_(sites) {}

  Result<void> add(const Scanned& scanned) {
    const WakeUpEdges& edges = scanned.wake_up_edges();
    if (!walker_) {
      walker_ = std::make_unique<PathWalker>(scanned.window, sites_, edges, tree_);
    }
    for (const Interval& interval : scanned.intervals) {
      VPROF_TRY(add(interval, scanned));
    }
    return {};
  }

  uint64_t intervals() const { return intervals_; }

 private:
  Result<void> add(const Interval& interval, const Scanned& scanned) {
    const std::span<const NodeTimes::Time> times = times_.add_up(walker_->walk(interval), tree_);
    for (; places_ < tree_.nodes().size(); ++places_) {
      VPROF_TRY(sink_.place(place(places_)));
    }
    IntervalRow row;
    row.interval = sites_.interval_name(interval.kind);
    row.id = static_cast<uint64_t>(interval.id);
    row.key = interval.key;
    row.label = scanned.labels[interval.label];
    row.trace = interval.trace;
    row.begin_ns = interval.begin - scanned.start;
    row.latency_ns = static_cast<uint64_t>(interval.latency() - walker_->set_up());
    for (const NodeTimes::Time& time : times) {
      if (time.ns != 0) {
        row.times.push_back({time.node, time.ns});
      }
    }
    std::sort(row.times.begin(), row.times.end(),
              [](const PlaceTime& a, const PlaceTime& b) { return a.place < b.place; });
    ++intervals_;
    return sink_.interval(row);
  }

  PlaceRow place(uint32_t number) const {
    const PathNode& node = tree_.nodes()[number];
    PlaceRow row;
    row.number = number;
    row.parent = number == PathTree::kRoot ? number : node.parent;
    row.kind = node.kind == NodeKind::kFunction && node.blamed ? NodeKind::kBlame : node.kind;
    row.function = name(number);
    if (number != PathTree::kRoot && node.kind == NodeKind::kFunction) {
      row.key = sites_.functions[node.ident].key;
      row.location = sites_.sites[node.site].location;
    }
    return row;
  }

  std::string name(uint32_t number) const {
    const PathNode& node = tree_.nodes()[number];
    if (number == PathTree::kRoot) {
      return root_;
    }
    if (node.kind == NodeKind::kFunction) {
      return sites_.functions[node.ident].name;
    }
    if (node.kind != NodeKind::kBody) {
      return tree_.name(node.ident);
    }
    return body_name(tree_.nodes()[node.parent].kind, name(node.parent));
  }

  const Sites& sites_;
  const IntervalSink& sink_;
  const std::string root_;
  PathTree tree_;
  std::unique_ptr<PathWalker> walker_;
  NodeTimes times_;
  uint32_t places_ = 0;  // passed to the sink so far
  uint64_t intervals_ = 0;
};

}  // namespace

Result<IntervalTimesSummary> interval_times(const std::string& trace_dir,
                                            const std::string& sites_json, const Options& options,
                                            const IntervalSink& sink) {
  const auto sites = VPROF_TRY(read_sites(sites_json));
  const std::string root = sites.intervals.size() > 1 ? "interval" : sites.interval_name(0);
  RowWriter writer(sites, sink, options.interval.empty() ? root : options.interval);
  Result<void> written;
  const auto write = [&](const Scanned& portion) {
    if (written) {
      written = writer.add(portion);
    }
  };
  const ScanResult scanned = VPROF_TRY(scan(trace_dir, sites, options, write));
  VPROF_TRY(written);
  if (writer.intervals() == 0) {
    return fail("{}: no completed interval{}", trace_dir,
                options.interval.empty() ? "" : " '" + options.interval + "'");
  }
  return IntervalTimesSummary{writer.intervals(), scanned.given_up + scanned.skipped};
}

}  // namespace vprof::analyzer
