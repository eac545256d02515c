// Walks the critical paths of completed intervals, on all cores, and adds up where their time went.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "analysis/node_times.h"
#include "analysis/record_tally.h"
#include "critical_path/critical_path.h"
#include "critical_path/path_tree.h"
#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "statistics/interval_sums_builder.h"
#include "trace/worker_pool.h"

namespace vprof::analyzer {

/// A node as a place.
Place place_of(const PathNode& node, const PathTree& tree, const Sites& sites);

/// The sums of some intervals of one kind. One thread at a time.
class Collector {
 public:
  /// `start`: when the recording began, ns of CLOCK_MONOTONIC.
  Collector(const Window& window, const Sites& sites, const WakeUpEdges& edges, int64_t start);

  /// Fills in Interval::set_up.
  void add(Interval& interval, uint64_t batch, const std::string& label);
  /// Joins the batches 2i and 2i + 1 to batch i.
  void halve_batches();
  /// Adds the places to `builder`. Returns their numbers there.
  std::vector<uint32_t> add_places_to(IntervalSumsBuilder& builder, const Sites& sites) const;
  /// Moves the sums to `builder`: memory does not hold them twice. `run`: when the recording began,
  /// ns of CLOCK_REALTIME.
  void move_to(IntervalSumsBuilder& builder, const Sites& sites, int64_t run,
               const std::vector<std::string>& labels);

  size_t places() const { return tree_.nodes().size(); }
  /// About how much memory it takes.
  uint64_t bytes() const;
  const RecordTally& records() const { return records_; }
  /// Of the intervals' critical paths.
  Losses losses() const;

 private:
  using Times = std::span<const NodeTimes::Time>;
  void add_products(BatchSums& sums, Times times) const;
  void add_covariates(const Interval& interval, Times times);
  std::vector<UInt128> times_of_first_label() const;
  void add_functions();
  void add_to_sample(const Interval& interval, uint64_t hash, const std::vector<LeafTime>& leaves,
                     const std::string& label);

  PathTree tree_;
  PathWalker walker_;
  NodeTimes times_;
  std::map<uint64_t, BatchSums> batches_;
  BatchSums* latest_ = nullptr;  // of latest_batch_; null: of none
  uint64_t latest_batch_ = 0;
  /// A function, and its time in one interval over all its outermost instances.
  struct Function {
    uint32_t first;         // its first outermost instance, a node
    uint64_t interval = 0;  // number of the interval that `ns` is of
    uint64_t ns = 0;
  };
  struct Node {
    TailSums tail;
    PlaceExemplars exemplars;
    /// Its function if that has several outermost instances, of which the node is one.
    uint32_t shared_function = kNone;
  };
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> function_ids_;  // by kind and ident
  std::vector<Function> functions_;
  std::vector<NodeTimes::Time>
      shared_times_;       // in one interval, of nodes that share their function
  uint64_t interval_ = 0;  // counts the intervals
  std::vector<Node> nodes_;
  IntervalSample sample_;
  RecordTally records_;
  CovariateSums covariates_;  // by node; by_label_ has what belongs in by_label
  // Σx by label, then node. The last one: all further labels. Label 0, often the only one, is left
  // out, since it follows from the others.
  std::vector<std::vector<UInt128>> by_label_;
  const int64_t start_;
  Losses losses_;  // without those of the edges
};

/// All intervals of one kind, spread over collectors that work side by side. Where the tree is
/// large, memory bounds the number of batches and of collectors.
class KindCollector {
 public:
  /// `run`: when the recording began, ns of CLOCK_REALTIME; `start`: of CLOCK_MONOTONIC. `memory`:
  /// Options::memory.
  KindCollector(uint32_t kind, const Window& window, const Sites& sites, const WakeUpEdges& edges,
                WorkerPool& pool, int64_t run, int64_t start, uint64_t memory);

  /// Adds intervals of this kind, latest begin first, and fills in their Interval::set_up.
  /// `labels`: IntervalBuilder::labels().
  void add(const std::vector<Interval*>& intervals, const std::vector<std::string>& labels);
  /// Call once, at the end.
  IntervalSums finish();

 private:
  void keep_batches(size_t places);
  void keep_collectors();
  void close_last();

  uint32_t kind_;
  const Sites& sites_;
  WorkerPool& pool_;
  const int64_t run_;
  const uint64_t memory_;
  std::vector<std::unique_ptr<Collector>> collectors_;
  // The sums of collectors that were closed.
  IntervalSumsBuilder builder_;
  RecordSumsByGroup records_;
  unsigned shift_ = 0;  // the batch of an interval is Interval::number >> shift_
  uint64_t newest_ = 0;
  Histogram latencies_;
  LoopQueueSums loop_queue_;
  struct LabelLatencySums {
    LatencySums sums;
    std::vector<uint64_t> bins;  // by latency_bin()
  };
  std::vector<LabelLatencySums> by_label_;
  std::vector<std::string> label_names_;
};

}  // namespace vprof::analyzer
