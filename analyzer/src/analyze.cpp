// The two entry points, as lists of passes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "factors.h"
#include "intervals.h"
#include "links.h"
#include "moments.h"
#include "path.h"
#include "path_tree.h"
#include "sites.h"
#include "summary.h"
#include "timeline.h"
#include "variance_tree.h"

namespace vprof::analyzer {
namespace {

constexpr uint64_t kBatches = 20;
constexpr uint64_t kEnough = 1000;  // intervals below which the ranking may not hold

struct Chosen {
  uint32_t kind = 0;
  std::string name;
  std::vector<uint32_t> ids;  // in order of their end
};

Result<Chosen> choose(const Intervals& intervals, const Sites& sites, const std::string& trace_dir,
                      const std::string& wanted) {
  const auto kind = choose_kind(intervals, sites, wanted);
  if (!kind) return tl::make_unexpected(kind.error());
  Chosen chosen{*kind, sites.interval_name(*kind), completed_of(intervals, *kind)};
  if (chosen.ids.empty()) {
    return tl::make_unexpected(
        fmt::format("{}: no completed interval '{}' ({} began); was it annotated, and did the "
                    "workload reach it?",
                    trace_dir, chosen.name,
                    std::count_if(intervals.all.begin(), intervals.all.end(),
                                  [&](const Interval& i) { return i.kind == chosen.kind; })));
  }
  return chosen;
}

/// Times of all nodes of one interval, from those of its leaves.
class NodeTimes {
 public:
  const std::vector<Moments::Time>& of(const std::vector<LeafTime>& leaves, const PathTree& tree) {
    const std::vector<PathNode>& nodes = tree.nodes();
    times_.clear();
    if (at_.size() < nodes.size()) at_.resize(nodes.size(), 0);
    for (const LeafTime& leaf : leaves) {
      for (uint32_t node = leaf.node; node != kNone; node = nodes[node].parent) {
        if (at_[node] == 0) {
          times_.push_back({node, nodes[node].parent, 0});
          at_[node] = static_cast<uint32_t>(times_.size());
        }
        times_[at_[node] - 1].ns += static_cast<uint64_t>(leaf.ns);
      }
    }
    for (const Moments::Time& time : times_) at_[time.node] = 0;
    std::sort(times_.begin(), times_.end(), [](const Moments::Time& a, const Moments::Time& b) {
      return std::pair(a.parent, a.node) < std::pair(b.parent, b.node);
    });
    return times_;
  }

 private:
  std::vector<Moments::Time> times_;
  std::vector<uint32_t> at_;  // by node: 1 + index into times_
};

/// Walks all chosen intervals. Returns how many of them do not add up to their latency, which would
/// be a defect.
uint64_t walk_all(const Intervals& intervals, const Chosen& chosen, int64_t p99, PathWalker& walker,
                  const PathTree& tree, Moments& moments) {
  uint64_t violations = 0;
  NodeTimes node_times;
  const uint64_t n = chosen.ids.size();
  const uint64_t batches = std::min(kBatches, n);
  uint64_t batch = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const Interval& interval = intervals.all[chosen.ids[i]];
    const auto& times = node_times.of(walker.walk(chosen.ids[i]), tree);
    // The root stands last: its parent is no node.
    const int64_t total = times.empty() ? 0 : static_cast<int64_t>(times.back().ns);
    if (total != interval.latency()) ++violations;
    moments.add(times, static_cast<uint64_t>(interval.latency()), interval.latency() >= p99);
    if ((i + 1) * batches / n != batch) {
      batch = (i + 1) * batches / n;
      moments.end_batch();
    }
  }
  return violations;
}

/// Heavy tails: a handful of intervals that decide the result.
void note_reliability(const std::vector<int64_t>& sorted, const IntervalSummary& summary,
                      std::vector<std::string>& notes) {
  if (sorted.size() < kEnough) {
    notes.push_back(fmt::format("only {} intervals: below {} the ranking may not hold",
                                sorted.size(), kEnough));
  }
  double slowest = 0;
  for (size_t i = 0; i < std::min<size_t>(5, sorted.size()); ++i) {
    const double distance = static_cast<double>(sorted[sorted.size() - 1 - i]) - summary.mean_ns;
    slowest += distance * distance;
  }
  const double all = summary.variance_ns2 * static_cast<double>(sorted.size());
  if (sorted.size() > 10 && all > 0 && slowest > all / 2) {
    notes.push_back(fmt::format(
        "the 5 slowest intervals carry {:.0f} % of the variance: a longer run may rank otherwise",
        100 * slowest / all));
  }
}

}  // namespace

Result<Profile> analyze(const std::string& trace_dir, const std::string& sites_json,
                        const Options& options) {
  const auto sites = read_sites(sites_json);
  if (!sites) return tl::make_unexpected(sites.error());
  auto recording = read_recording(trace_dir, *sites, true);
  if (!recording) return tl::make_unexpected(recording.error());
  const Intervals intervals = build_intervals(*recording, true);
  const auto chosen = choose(intervals, *sites, trace_dir, options.interval);
  if (!chosen) return tl::make_unexpected(chosen.error());
  const Links links(*recording);

  const std::vector<int64_t> latencies = sorted_latencies(intervals, chosen->ids);
  PathTree paths(*sites);
  PathWalker walker(*recording, *sites, intervals, links, paths);
  Moments moments;
  const uint64_t violations =
      walk_all(intervals, *chosen, quantile(latencies, 0.99), walker, paths, moments);
  const VarianceTree tree = make_variance_tree(paths, *sites, moments.total(), chosen->name);

  Profile profile;
  profile.k = options.k;
  profile.threshold = options.threshold;
  profile.interval = summarize(intervals, chosen->ids, chosen->kind, chosen->name);
  profile.factors = rank_factors(tree, moments.batches(), options);
  profile.tree = to_public(tree);
  profile.losses = std::move(recording->losses);
  profile.losses.exact_edges = walker.edges().exact;
  profile.losses.inferred_edges = walker.edges().inferred;
  profile.losses.unmatched_waits = walker.edges().unknown;
  profile.overhead = recording->overhead;
  note_reliability(latencies, profile.interval, profile.losses.notes);
  if (violations != 0) {
    profile.losses.notes.push_back(fmt::format(
        "{} intervals do not add up to their latency: please report this defect", violations));
  }
  return profile;
}

Result<IntervalSummary> summarize_latency(const std::string& trace_dir,
                                          const std::string& sites_json, const Options& options) {
  const auto sites = read_sites(sites_json);
  if (!sites) return tl::make_unexpected(sites.error());
  auto recording = read_recording(trace_dir, *sites, false);
  if (!recording) return tl::make_unexpected(recording.error());
  const Intervals intervals = build_intervals(*recording, false);
  const auto chosen = choose(intervals, *sites, trace_dir, options.interval);
  if (!chosen) return tl::make_unexpected(chosen.error());
  return summarize(intervals, chosen->ids, chosen->kind, chosen->name);
}

}  // namespace vprof::analyzer
