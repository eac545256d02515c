// Marks of all threads, from the last to the first, to semantic intervals and the segments in which
// threads worked for them.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/frame_history.h"

namespace vprof::analyzer {

/// A segment as its interval sees it.
struct IntervalSegment {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t thread = 0;
  int64_t latest_end =
      0;  ///< of this and all earlier-starting segments of the interval: bounds a search backwards
};

/// A completed interval.
struct Interval {
  uint32_t serial = 0;  ///< how many ends stand after its end, over all kinds
  uint64_t number = 0;  ///< how many of its kind ended after it
  uint32_t kind = 0;    ///< index in sites.json "intervals"
  uint32_t label = 0;   ///< index into IntervalBuilder::labels()
  uint64_t id = 0;      ///< as the program named it
  uint64_t work = 0;    ///< units declared, at most kMostWork
  uint32_t end_thread = kNone;
  int64_t begin = 0;
  int64_t end = 0;
  std::vector<IntervalSegment> segments;  ///< in order of start

  int64_t latency() const { return end - begin; }
};

/// Longer than this is a damaged clock word, not an interval: sums of squares of 2^32 such
/// intervals still fit into 128 bits.
inline constexpr int64_t kLongestInterval = int64_t{1} << 47;

/// More units of work count as so many: squares of them fit, too.
inline constexpr uint64_t kMostWork = uint64_t{1} << 47;

/// Takes the marks of one window after the other, from the newest to the oldest. Read backwards, an
/// END opens an interval and the first BEGIN of its id before it completes it.
class IntervalBuilder {
 public:
  explicit IntervalBuilder(Window& window) : window_(window), threads_(window.threads.size()) {}

  /// Takes all marks after `complete_after` out of the window, fills in Thread::segments, and
  /// returns the intervals that began after it, in order of falling begin. They are the caller's
  /// to change, until the next call.
  std::vector<Interval>& take(int64_t complete_after);

  /// What lies at or after this instant is of no use to intervals still to come, if the trace is
  /// known down to `complete_after`.
  int64_t needed_before(int64_t complete_after) const;

  /// Gives up the open intervals that ended last, half of all.
  void give_up_half();

  /// Call at the beginning of the trace: what is still open never began.
  void finish();

  const std::vector<std::string>& labels() const { return labels_; }
  uint64_t incomplete(uint32_t kind) const {
    return kind < incomplete_.size() ? incomplete_[kind] : 0;
  }
  /// 1 + the greatest kind seen.
  uint32_t kinds() const { return kinds_; }
  uint64_t given_up() const { return given_up_; }

 private:
  struct Key {
    uint64_t id, scope;
    uint32_t kind;
    bool operator==(const Key&) const = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      uint64_t h = key.id * 0x9e3779b97f4a7c15ull;
      h ^= (key.scope + 0x7f4a7c15) * 0xbf58476d1ce4e5b9ull + key.kind;
      return static_cast<size_t>(h ^ (h >> 29));
    }
  };
  struct MarkRef {
    int64_t time;
    uint32_t thread;
    uint32_t index;
  };
  struct State {
    int64_t until = INT64_MAX;  // the thread was told at this time whom to work for from then on
    uint32_t last = kNone;      // interval of the oldest segment found so far
    std::vector<Segment> found;
  };

  std::vector<MarkRef> latest_first(int64_t complete_after) const;
  void apply(uint32_t thread, const Mark& mark);
  void begin(uint32_t thread, const Mark& mark);
  void end(uint32_t thread, const Mark& mark);
  void label(uint32_t thread, const Mark& mark);
  void work(const Mark& mark);
  Interval* find_for_switch(const Mark& mark);
  Interval* find(uint64_t id, uint64_t scope, uint32_t kind);
  void works_for(uint32_t thread, Interval* interval, int64_t since);
  void close(Interval& interval);
  void count_incomplete(uint32_t kind);

  Window& window_;
  std::vector<State> threads_;
  std::vector<Interval> ready_;
  std::vector<Interval> slots_;
  std::vector<uint32_t> free_;
  using Open = std::unordered_map<Key, uint32_t, KeyHash>;  // to slots_
  Open open_;
  // What completed intervals leave behind, for new ones.
  std::vector<Open::node_type> spare_entries_;
  std::vector<std::vector<IntervalSegment>> spare_segments_;
  std::vector<uint64_t> incomplete_, ended_;  // by kind
  std::vector<std::string> labels_ = {""};
  std::unordered_map<std::string, uint32_t> label_index_ = {{"", 0}};
  uint32_t kinds_ = 0;
  uint32_t ends_ = 0;
  uint64_t given_up_ = 0;
};

}  // namespace vprof::analyzer
