// The single intervals that a profile keeps, each with its decomposition: the data of plots that
// show one point per interval.
#pragma once

#include <cassert>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "vprof/analyzer/trace_context.h"

namespace vprof::analyzer {

struct SampledInterval {
  /// Leaf places and their times, ns.
  using Leaves = std::vector<std::pair<uint32_t, uint64_t>>;

  uint64_t latency = 0;  ///< ns
  uint64_t key = 0;      ///< chosen by the program; 0: none
  std::string label;
  int64_t run = 0;    ///< when the recording began, ns of CLOCK_REALTIME
  int64_t begin = 0;  ///< ns since the recording began
  int64_t id = 0;     ///< its begin, ns of CLOCK_MONOTONIC; 0: not known
  TraceContext trace;
  Leaves leaves;  ///< their times add up to the latency
};

/// A uniform sample of the intervals, and the slowest of them.
///
/// The sample is the intervals with the smallest hashes, as many as the limits on intervals and
/// leaves admit. Membership depends on the intervals alone: an interval within the limits among all
/// is within them in every subset. So adding samples does not depend on the order.
class IntervalSample {
 public:
  static constexpr size_t kSampled = 2000;
  /// The slowest ones: of up to 200,000 intervals, all of the slowest 1 %.
  static constexpr size_t kSlowest = 2000;
  /// As many of them as are shown one by one.
  static constexpr size_t kWorst = 50;
  static constexpr size_t kMostLeaves = 400'000;  ///< in each of the two

  /// Hash or complement of the latency, then key, begin, run.
  using Key = std::tuple<uint64_t, uint64_t, int64_t, int64_t>;
  using Kept = std::vector<std::pair<Key, SampledInterval>>;

  /// False if add() would certainly drop the interval, which is true of most.
  bool wants(uint64_t hash, uint64_t latency) const {
    return sampled.wants(hash) || worst.wants(~latency);
  }
  /// `hash`: interval_hash().
  void add(uint64_t hash, SampledInterval interval);
  /// An empty list with memory of an interval that was dropped, for the leaves of the next one.
  SampledInterval::Leaves recycled();
  /// Adds another sample, whose place i is place `to[i]` here. `run`, if given, replaces the run of
  /// each interval.
  void add(IntervalSample other, const std::vector<uint32_t>& to, std::optional<int64_t> run = {});

  /// The intervals with the smallest keys.
  ///
  /// Most intervals that are added are dropped again when smaller ones arrive. So add() lets up to
  /// twice as many gather before it drops any, and settle() sorts.
  class Smallest {
   public:
    /// Keeps up to `most` intervals.
    explicit Smallest(size_t most) : most_(most) {}
    bool wants(uint64_t first) const { return first <= std::get<0>(bound_); }
    void add(const Key& key, SampledInterval interval);
    /// Adds another one, as IntervalSample::add() says. Settles.
    void add_all(Smallest other, const std::vector<uint32_t>& to, std::optional<int64_t> run);
    /// Drops all keys from `bound` on, now and in future: one of them did not fit. Settles.
    void cut(const Key& bound);
    /// Sorts by key, drops what was added twice, and what is beyond the limits.
    void settle();

    /// Smallest key first. Call settle() first.
    const Kept& kept() const {
      assert(settled_);
      return kept_;
    }
    /// Every key kept is below this. Call settle() first.
    const Key& bound() const {
      assert(settled_);
      return bound_;
    }

   private:
    friend class IntervalSample;

    void drop_from(size_t index);

    size_t most_;
    Kept kept_;
    bool settled_ = true;
    size_t leaves_ = 0;
    std::vector<SampledInterval::Leaves> spare_;  // of intervals that were dropped
    Key bound_ = {UINT64_MAX, UINT64_MAX, INT64_MAX, INT64_MAX};
  };
  Smallest sampled{kSampled};  ///< by hash
  Smallest worst{kSlowest};    ///< by complement of the latency
};

}  // namespace vprof::analyzer
