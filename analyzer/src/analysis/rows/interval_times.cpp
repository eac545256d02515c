#include "vprof/analyzer/interval_times.h"

#include "analysis/rows/walked_intervals.h"
#include "statistics/places.h"

namespace vprof::analyzer {
namespace {

/// Passes intervals and places to the sink. The tree has one root for intervals of all kinds.
class RowWriter {
 public:
  RowWriter(const Sites& sites, const IntervalSink& sink, const PathTree& tree,
            const std::string& root)
      : sites_(sites), sink_(sink), tree_(tree), root_(root) {}

  Result<void> add(const WalkedInterval& walked) {
    for (; places_ < tree_.nodes().size(); ++places_) {
      VPROF_TRY(sink_.place(place(places_)));
    }
    const Interval& interval = walked.interval;
    IntervalRow row;
    row.interval = sites_.interval_name(interval.kind);
    row.id = static_cast<uint64_t>(interval.id);
    row.key = interval.key;
    row.label = walked.label;
    row.trace = interval.trace;
    row.begin_ns = interval.begin - walked.portion.start;
    row.latency_ns = walked.latency_ns;
    row.times.reserve(walked.times.size());
    for (const NodeTimes::Time& time : walked.times) {
      row.times.push_back({time.node, time.ns});
    }
    ++intervals_;
    return sink_.interval(row);
  }

  uint64_t intervals() const { return intervals_; }

 private:
  PlaceRow place(uint32_t number) const {
    const PathNode& node = tree_.nodes()[number];
    PlaceRow row;
    row.number = number;
    row.parent = number == PathTree::kRoot ? number : node.parent;
    row.kind = node.shown_kind();
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
  const PathTree& tree_;
  const std::string root_;
  uint32_t places_ = 0;  // passed to the sink so far
  uint64_t intervals_ = 0;
};

}  // namespace

Result<IntervalTimesSummary> interval_times(const std::string& trace_dir,
                                            const std::string& sites_json, const Options& options,
                                            const IntervalSink& sink) {
  const auto sites = VPROF_TRY(read_sites(sites_json, options.interval));
  PathTree tree(sites);
  RowWriter writer(sites, sink, tree, root_name(sites, options));
  const ScanResult scanned =
      VPROF_TRY(walk_intervals(trace_dir, sites, options, tree,
                               [&](const WalkedInterval& walked) { return writer.add(walked); }));
  if (writer.intervals() == 0) {
    return fail("{}: no completed interval{}", trace_dir,
                options.interval.empty() ? "" : " '" + options.interval + "'");
  }
  return IntervalTimesSummary{writer.intervals(), scanned.given_up + scanned.skipped};
}

}  // namespace vprof::analyzer
