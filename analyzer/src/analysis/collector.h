// Walks completed intervals, on all cores, and adds up where their time went.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "critical_path/critical_path.h"
#include "critical_path/path_tree.h"
#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "statistics/interval_sums.h"
#include "trace/worker_pool.h"

namespace vprof::analyzer {

/// Times of all nodes of one interval, from those of its leaves.
class NodeTimes {
 public:
  struct Time {
    uint32_t node;
    uint32_t sibling;  ///< index of another one with the same parent; kNone: none left
    uint64_t ns;
  };
  /// Valid until the next call.
  const std::vector<Time>& of(const std::vector<LeafTime>& leaves, const PathTree& tree);

 private:
  /// What was found on the way up from one leaf to a place that was known.
  struct Chain {
    uint32_t begin;  // in times_, up to the begin of the next
    uint32_t into;   // index into times_ of that place; kNone: it goes up to the root
  };

  std::vector<Time> times_;
  std::vector<Chain> chains_;
  std::vector<uint32_t> at_;           // by node: 1 + index into times_
  std::vector<uint32_t> first_child_;  // by node: index into times_, kNone
};

/// What one thread of the analysis found in the intervals of one kind that it walked.
class Collector {
 public:
  /// `start`: begin of the recording.
  Collector(const Window& window, const Sites& sites, const WakeUpEdges& edges, int64_t start);

  void add(const Interval& interval, uint64_t batch, const std::string& label);
  /// Two batches become one.
  void halve_batches();
  /// Adds all that was found to `sum`.
  void give(AccountSum& sum, const Sites& sites, int64_t run,
            const std::vector<std::string>& labels) const;

  const EdgeCounts& edges() const { return walker_.edges(); }
  /// Intervals whose leaves do not add up to their latency, which would be a defect.
  uint64_t violations() const { return violations_; }

 private:
  void add_explained(const Interval& interval, const std::vector<NodeTimes::Time>& times);

  PathTree tree_;
  PathWalker walker_;
  NodeTimes times_;
  std::map<uint64_t, BatchSums> batches_;
  std::vector<TailSums> tails_;
  std::vector<Samples> samples_;
  IntervalSample intervals_;
  void keep(const Interval& interval, uint64_t hash, const std::vector<LeafTime>& leaves,
            const std::string& label);

  ExplainSums explain_;                         // by node; labels in by_label_
  std::vector<std::vector<UInt128>> by_label_;  // by label, then node
  const int64_t start_;
  uint64_t violations_ = 0;
};

/// All intervals of one kind: spreads them over collectors.
class KindCollector {
 public:
  KindCollector(uint32_t kind, const Window& window, const Sites& sites, const WakeUpEdges& edges,
                WorkerPool& pool, int64_t start);

  /// Intervals of this kind, in order of falling begin; `labels` as of the IntervalBuilder.
  void add(const std::vector<const Interval*>& intervals, const std::vector<std::string>& labels);
  Account finish(int64_t run);

 private:
  uint32_t kind_;
  const Sites& sites_;
  WorkerPool& pool_;
  std::vector<std::unique_ptr<Collector>> collectors_;  // by worker
  unsigned shift_ = 0;  // an interval belongs to batch number >> shift
  uint64_t newest_ = 0;
  Histogram latencies_;
  struct Label {
    LabelSums sums;
    LatencyBins bins;
  };
  std::vector<Label> by_label_;
  std::vector<std::string> label_names_;
};

}  // namespace vprof::analyzer
