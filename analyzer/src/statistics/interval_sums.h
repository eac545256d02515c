// Where the time of all intervals of one kind went, as sums: what is kept of a recording. Small,
// and adding two of them gives what one analysis of both recordings would give, to the last bit.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "statistics/explained_share.h"
#include "statistics/histogram.h"
#include "statistics/interval_sample.h"
#include "statistics/moments.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

inline constexpr uint32_t kNoPlace = UINT32_MAX;

/// A node of the tree of places. Two places are the same if their paths are: kind, name, key and
/// `where` from the root down.
struct Place {
  NodeKind kind = NodeKind::kFunction;
  bool blamed = false;  ///< below a wait or queue: what another thread did
  uint32_t parent = kNoPlace;
  uint32_t rank = 0;  ///< among its siblings, from 0
  std::string name;   ///< empty: of a body
  std::string key;    ///< of a function, in sites.json
  std::string where;  ///< file:line:column of the call or function, with a number if not unique
  std::string site;   ///< file:line
  std::string definition;  ///< of the function
  int height = 0;
  bool expandable = false;
  bool expanded = false;
};

/// An interval worth a look.
struct Sample {
  uint64_t ns = 0;       ///< of the place in it
  uint64_t latency = 0;  ///< ns
  uint64_t id = 0;
  int64_t begin = 0;  ///< ns of CLOCK_MONOTONIC
  auto operator<=>(const Sample&) const = default;
};

/// The intervals in which a place took longest, and a sample of all in which it took any time.
/// Which ones are sampled depends on the intervals alone, so adding is order-free.
struct Samples {
  static constexpr size_t kWorst = 3;
  static constexpr size_t kSampled = 9;
  std::vector<Sample> worst;                         ///< falling
  std::vector<std::pair<uint64_t, Sample>> sampled;  ///< by a hash of the interval, rising

  /// `hash`: sample_hash() of it.
  void add(const Sample& sample, uint64_t hash) {
    if (worst.size() < kWorst || worst.back() < sample) {
      add_worst(sample);
    }
    if (sampled.size() < kSampled || hash < sampled.back().first) {
      add_sampled(sample, hash);
    }
  }
  Samples& operator+=(const Samples& other);

 private:
  void add_worst(const Sample& sample);
  void add_sampled(const Sample& sample, uint64_t hash);
};

/// Spreads neighbouring intervals: a sample by it is as good as a random one, and always the same.
uint64_t sample_hash(const Sample& sample);

struct LabelSums {
  uint64_t n = 0;
  UInt128 x = 0, xx = 0;
};

/// Counts by latency_bin().
using LatencyBins = std::map<uint32_t, uint64_t>;

/// There are at most so many batches of a recording, so more than half as many once there are many
/// intervals.
inline constexpr uint64_t kMostBatches = 64;

/// Intervals that follow each other in time.
struct Batch {
  int64_t run = 0;     ///< begin of the recording, ns of CLOCK_REALTIME
  uint64_t order = 0;  ///< rises with time within a run
  BatchSums sums;
};

struct Account {
  std::string interval;
  uint64_t incomplete = 0;
  int root_height = 0;
  std::vector<Place> places;  ///< parents before children; 0: the interval
  std::vector<Batch> batches;
  std::vector<TailSums> tails;   ///< by place
  std::vector<Samples> samples;  ///< by place
  Histogram latencies;
  std::map<std::string, LabelSums> labels;
  std::map<std::string, LatencyBins> label_bins;  ///< by label
  IntervalSample intervals;                       ///< its places are those above
  ExplainSums explain;                            ///< by place
  Losses losses;
  Overhead overhead;

  uint64_t count() const { return latencies.count(); }
  BatchSums total() const;
};

/// Children by rank.
std::vector<std::vector<uint32_t>> children_of(const std::vector<Place>& places);

/// Adds up accounts, or parts of one; the result does not depend on their order.
class AccountSum {
 public:
  AccountSum();

  /// The place below `parent` (in the sum) that is the same as `place`.
  uint32_t place(uint32_t parent, const Place& place);
  /// Adds sums over a tree whose nodes are at `to` in the sum. `children` of that tree by rank.
  void add(const BatchSums& sums, const std::vector<std::vector<uint32_t>>& children,
           const std::vector<uint32_t>& to, int64_t run, uint64_t order);
  void add(const TailSums& tail, uint32_t place);
  void add(const Samples& samples, uint32_t place);
  /// `run`: the recording of all of them; none: as they say.
  void add(const IntervalSample& intervals, const std::vector<uint32_t>& to,
           std::optional<int64_t> run = {});
  void add(const Account& account);

  /// What is not by place.
  Account& rest() { return sum_; }
  /// Places in order of their identity, batches in order of time.
  Account finish();

 private:
  using Identity = std::tuple<uint32_t, uint8_t, std::string, std::string, std::string>;
  Account sum_;
  std::vector<uint32_t> ranks_;
  std::map<Identity, uint32_t> index_;
  std::map<std::pair<int64_t, uint64_t>, BatchSums> batches_;
};

}  // namespace vprof::analyzer
