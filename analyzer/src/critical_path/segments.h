// Semantic intervals and their segments (dissertation 2.3.1), from the marks of all threads.
//
//   thread 1   BEGIN 7 |======= 7 =======| SWITCH 0
//   thread 2                     SWITCH 7 |==== 7 ====| SWITCH 8 |== 8 ==
//   thread 3                                                SWITCH 7 |=== 7 ===| END 7
//                      <------------------- interval 7 ------------------------>
//
// A BEGIN concerns only intervals of its own kind: one that begins inside an interval of another
// kind does not take the thread away from that. After a SWITCH the thread works for one interval.
//
// Marks are read from the last to the first.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "trace/frame_history.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A stretch of one thread that worked for the interval.
struct IntervalSegment {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t thread = 0;
  /// The latest end of this and all segments of the interval that start earlier: bounds a search
  /// backwards.
  int64_t latest_end = 0;
  MarkPlace marked;  ///< the last mark in it
  /// It is what a thread did between two marks of coroutines: it neither begins before the one nor
  /// goes on after the other.
  bool of_coroutine = false;
};

/// A completed interval.
struct Interval {
  uint32_t serial = 0;  ///< number of intervals, of any kind, that end later
  uint64_t number = 0;  ///< number of intervals of this kind that end later
  uint32_t kind = 0;    ///< index in "intervals" of sites.json
  uint32_t label = 0;   ///< index into IntervalBuilder::labels()
  TraceContext trace;   ///< given by the program
  /// Its own among all of a recording: the begin, or the nearest earlier ns that no interval has.
  int64_t id = 0;
  uint64_t key = 0;   ///< given by the program; 0: none
  uint64_t work = 0;  ///< units of work declared, at most kMaxWork
  uint32_t end_thread = kNone;
  int64_t begin = 0;
  int64_t end = 0;
  /// Set-up of the runtime's own on the critical path, ns. Known once the path has been walked.
  int64_t set_up = 0;
  std::vector<IntervalSegment> segments;  ///< in order of start
  /// How long before the begin the event loop had returned from its wait, and worked for others
  /// since; 0: it began at once. Not a part of the latency. kNoTime: no event loop.
  int64_t queued = kNoTime;
  bool of_coroutine = false;  ///< an execution of a coroutine, without a key

  /// Whether a thread can leave it and resume it later. One that the program gives no key to is
  /// all that its thread does from begin to end, unless it is a coroutine.
  bool can_park() const { return key != 0 || of_coroutine; }
  /// Without what the runtime did for itself.
  int64_t latency() const { return end - begin - set_up; }
};

/// A longer interval comes from a damaged clock word. Sums of squares of 2^32 intervals of this
/// length fit into 128 bits.
inline constexpr int64_t kLongestInterval = int64_t{1} << 47;

/// Declared work is clamped to this, for the same reason.
inline constexpr uint64_t kMaxWork = uint64_t{1} << 47;

/// Builds intervals from one window after the other, the newest first. Read backwards, an END opens
/// an interval, and the first BEGIN of its id completes it.
class IntervalBuilder {
 public:
  /// Builds the intervals of the epoch.
  explicit IntervalBuilder(Window& window, const Epoch& epoch = {})
      : window_(window), epoch_(epoch), threads_(window.threads.size()) {}

  /// Takes all marks after `complete_after` out of the window, fills in Thread::segments, and
  /// returns the intervals that began after it, the latest begin first. The caller may change them;
  /// they are valid until the next call.
  std::vector<Interval>& read_marks(int64_t complete_after);

  /// Intervals still to be completed need no records that begin at or after this instant, if the
  /// trace has been read down to `complete_after`.
  int64_t needed_before(int64_t complete_after) const;

  /// Gives up half of the open intervals, those that end last.
  void give_up_half();

  /// Whether the begin of an interval of the epoch may be in what has not been read.
  bool needs_more() const;

  /// To be called when the whole trace is read. Open intervals count as incomplete.
  void finish();

  const std::vector<std::string>& labels() const { return labels_; }
  /// Those of which an end is missing, or comes after the epoch's.
  uint64_t incomplete(uint32_t kind) const {
    return kind < incomplete_.size() ? incomplete_[kind] : 0;
  }
  /// 1 + the largest kind seen.
  uint32_t kinds() const { return kinds_; }
  uint64_t given_up() const { return given_up_; }
  /// Trace contexts of intervals that had not begun or had ended.
  uint64_t unplaced_contexts() const { return unplaced_contexts_; }

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
  /// What a thread does for the intervals of one kind.
  struct KindState {
    int64_t until = INT64_MAX;     // time of the oldest BEGIN of this kind or SWITCH so far
    bool until_coroutine = false;  // that is a coroutine's
    uint32_t last = kNone;         // the interval that it switched to
    std::vector<Segment> found;
  };
  struct ThreadState {
    int64_t oldest_switch = INT64_MAX;
    bool oldest_is_coroutine = false;
    std::vector<KindState> kinds;
  };

  std::vector<MarkRef> marks_latest_first(int64_t complete_after) const;
  void apply(uint32_t thread, const Mark& mark);
  void begin(uint32_t thread, const Mark& mark);
  void end(uint32_t thread, const Mark& mark);
  void label(uint32_t thread, const Mark& mark);
  void work(const Mark& mark);
  void trace_context(uint32_t thread, const Mark& mark);
  Interval* find_for_switch(const Mark& mark);
  Interval* find(uint64_t id, uint64_t scope, uint32_t kind);
  KindState& state_of(uint32_t thread, uint32_t kind);
  void switch_thread(uint32_t thread, const Mark& mark);
  void switch_to(uint32_t thread, uint32_t kind, Interval* interval, const Mark& mark);
  void complete(Interval& interval);
  bool in_epoch(const Interval& interval) const {
    return epoch_.contains(epoch_.by_end ? interval.end : interval.begin);
  }
  void count_incomplete(uint32_t kind);

  Window& window_;
  Epoch epoch_;
  std::vector<ThreadState> threads_;
  std::vector<Interval> ready_;
  std::vector<Interval> slots_;
  std::vector<uint32_t> free_;
  using Open = std::unordered_map<Key, uint32_t, KeyHash>;  // to slots_
  Open open_;
  // Allocations of completed intervals, for reuse.
  std::vector<Open::node_type> spare_entries_;
  std::vector<std::vector<IntervalSegment>> spare_segments_;
  std::vector<uint64_t> incomplete_, ended_;  // by kind
  std::vector<std::string> labels_ = {""};
  std::unordered_map<std::string, uint32_t> label_index_ = {{"", 0}};
  uint32_t kinds_ = 0;
  uint32_t ends_ = 0;
  int64_t last_id_ = INT64_MAX;
  uint64_t given_up_ = 0;
  uint64_t unplaced_contexts_ = 0;
};

}  // namespace vprof::analyzer
