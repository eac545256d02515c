// What the analysis of a recording is reduced to: where the time of all intervals of one kind went,
// as exact sums. It is small, it is the content of a profile file, and two of them add up to what
// one analysis of both recordings would give, to the last bit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "statistics/exemplars.h"
#include "statistics/explained_share.h"
#include "statistics/histogram.h"
#include "statistics/interval_sample.h"
#include "statistics/moments.h"
#include "statistics/places.h"
#include "statistics/record_sums.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// Number of intervals by latency_bin().
using LatencyBins = std::map<uint32_t, uint64_t>;

/// A recording has at most this many batches. When it would have more, neighbours are joined, so a
/// recording with many intervals has more than half of this.
inline constexpr uint64_t kMostBatches = 64;

/// Intervals of one recording that follow each other in time.
struct Batch {
  int64_t run = 0;     ///< when the recording began, ns of CLOCK_REALTIME
  uint64_t order = 0;  ///< rises with time within a run
  /// When recording went on after a pause, ns. Of several slices, that of the first one. 0: of no
  /// live search.
  int64_t slice = 0;
  BatchSums sums;
};

/// What intervals waited before their begin because the event loop that had seen them ready worked
/// for others. Of the intervals that an event loop began.
struct LoopQueueSums {
  uint64_t waited = 0;  ///< intervals that waited at all
  UInt128 ns = 0;       ///< sum of their waits
  UInt128 latency = 0;  ///< sum of the latencies of all that an event loop began, ns
  Histogram waits;      ///< of all that an event loop began

  void add(uint64_t wait, uint64_t interval_latency);
  LoopQueueSums& operator+=(const LoopQueueSums& other);
};

/// Adds up all counts; each note is there once.
Losses& operator+=(Losses& sum, const Losses& more);

struct IntervalSums {
  std::string interval;     ///< name of the kind of interval
  uint64_t incomplete = 0;  ///< intervals without begin or end
  int root_height = 0;      ///< of the call graph in sites.json
  /// Of one recording: an interval is in the batch `Interval::number >> batch_shift`, whose order
  /// is UINT64_MAX less that. Not in profile files.
  unsigned batch_shift = 0;
  bool others_known = true;               ///< false: BatchSums::others is missing (earlier version)
  std::vector<Place> places;              ///< parents before children; places[0] is the interval
  std::vector<Batch> batches;             ///< by run, then time
  std::vector<TailSums> tails;            ///< by place
  std::vector<PlaceExemplars> exemplars;  ///< by place
  Histogram latencies;
  LoopQueueSums loop_queue;
  std::map<std::string, LatencySums> labels;      ///< by label
  std::map<std::string, LatencyBins> label_bins;  ///< by label
  IntervalSample sample;
  CovariateSums covariates;
  RecordSumsByGroup records;
  Losses losses;
  Overhead overhead;

  /// Number of completed intervals.
  uint64_t count() const { return latencies.count(); }
  /// The sums of all batches.
  BatchSums total() const;
};

}  // namespace vprof::analyzer
