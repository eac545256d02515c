// The critical path of a semantic interval (dissertation 2.3.3.3, Algorithm 2), as time per node of
// a tree.
//
//              begin                                                        end
//   thread 1     |==== f ====| enqueue                                       :
//                            :                                               :
//                            : created-by edge                               :
//                            :                                               :
//   thread 2                 :.... queue ....|=== g ===:.... wait ....:== g =|
//                                         dequeue                     :
//                                                                     : wake-up edge
//                                                                     :
//   thread 3                                   |========== h =========| release
//
//   The path, walked from right to left: g; the wait, with h below it; g; the queue; f.
//
// Guarantee: the times found for an interval add up to its latency exactly, to the nanosecond. What
// the runtime did for itself (VPROF_EV_SETUP) is in neither.
// docs/analysis.md shows why, and why the walk terminates.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "critical_path/path_tree.h"
#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "trace/frame_history.h"

namespace vprof::analyzer {

/// Waits on critical paths, by what is known of their wakers.
struct EdgeCounts {
  uint64_t exact = 0;
  uint64_t inferred = 0;
  uint64_t outside = 0;  ///< for disks, clocks and peers, which are not recorded
  uint64_t unknown = 0;  ///< all others without a known waker
};

/// Time of one leaf in one interval, ns.
struct LeafTime {
  uint32_t node;
  int64_t ns;
};

/// A piece of the path: what `thread` did, or waited for, in [lo, hi], ns.
struct PathPiece {
  uint32_t thread;
  uint32_t leaf;
  int64_t lo, hi;
  bool inferred;  ///< a wait around it names this thread by inference
};

/// Walks the critical paths of intervals, one at a time. One walker per thread of the analysis.
class PathWalker {
 public:
  PathWalker(const Window& window, const Sites& sites, const WakeUpEdges& wake_up_edges,
             PathTree& tree);

  /// Returns the leaves on the path of a completed interval. Each leaf appears once; their order is
  /// unspecified but deterministic. Valid until the next call.
  const std::vector<LeafTime>& walk(const Interval& interval);

  /// Set-up of the runtime's own on the path of the interval walked last, ns: what is missing
  /// between the sum of the leaves and the time from begin to end.
  int64_t set_up() const { return set_up_; }

  /// Appends the pieces of all paths walked from now on to `pieces`; null stops that. The pieces of
  /// an interval tile it, except for the runtime's own set-up.
  void record_pieces(std::vector<PathPiece>* pieces) { pieces_ = pieces; }

  const EdgeCounts& edges() const { return edge_counts_; }

 private:
  /// A stretch [lo, hi] of one thread, whose time is being attributed to nodes below `node`, from
  /// its end to its beginning.
  struct Stretch {
    uint32_t thread;
    int64_t lo;
    int64_t released;  // as Blame::released: when the path left the thread
    int64_t now;       // everything later is attributed, except for what the open frames own
    size_t next;       // the item to look at next
    uint32_t node;
    uint32_t depth;      // of waits around it
    size_t base, top;    // open_[base] owns the time outside all frames; the open frames follow, up
                         // to open_[top]
    bool opened;         // the frames that enclose its end are open
    bool inferred;       // as PathPiece::inferred
    int64_t flushed_to;  // everything later is among the pieces
    bool has_open() const { return top != base; }
  };
  struct OpenFrame {
    uint32_t item;  // kNone: the bottom entry of a stretch, which is no frame
    uint32_t node;
    uint32_t parent_node;  // also the parent of calls evaluated as arguments of this one
    uint32_t caller;       // the function that contains the call site; kNone: not a call site
  };
  struct NodeTime {
    int64_t ns = 0;
    bool touched = false;  // in touched_
  };
  struct CreatedByEdge {
    uint32_t thread;
    int64_t enqueued, dequeued;
    uint32_t sync;
  };

  /// `thread` resumes the interval at `resumed`. `left_thread` worked for it before, until
  /// `left`; its last mark for it was at `marked`.
  struct Park {
    uint32_t left_thread;
    MarkPlace marked;
    int64_t left;
    uint32_t thread;
    int64_t resumed;
    const Segment* by;  // begins at `resumed`, by a switch; null: the interval ended
  };

  // From segment to segment: critical_path.cpp.
  const Segment* segment_at(uint32_t thread, const Interval& interval, int64_t time);
  int64_t end_before(const IntervalSegment& segment, uint32_t thread, int64_t time,
                     bool resumed) const;
  int64_t handed_over(const IntervalSegment& segment, uint32_t thread, int64_t time,
                      bool resumed) const;
  const IntervalSegment* previous_segment(const Interval& interval, uint32_t thread, int64_t time,
                                          bool resumed) const;
  bool enqueued_for(const TaskEvent& dequeue, const Interval& interval);
  const TaskEvent* find_dequeue(const Thread& history, const Interval& interval, int64_t time,
                                const Segment*& segment);
  std::optional<CreatedByEdge> find_created_by_edge(uint32_t thread, const Interval& interval,
                                                    int64_t time);
  void leave(const Interval& interval, const IntervalSegment& previous, int64_t left,
             uint32_t thread, int64_t now, const Segment* resumed);
  void collect_leaves();

  // Intervals that were left for a while: parked.cpp.
  uint32_t function_of(const Item& item) const;
  uint32_t first_frame(const Thread& history, int64_t from) const;
  uint32_t program_frame_at(const Thread& history, int64_t time) const;
  bool is_of_program(const Item& frame) const;
  uint32_t frame_of(const Thread& history, MarkPlace mark, int64_t resumed) const;
  bool waits_within(const Thread& history, MarkPlace mark, const Poll& poll, int64_t resumed) const;
  int64_t left_at(uint32_t thread, MarkPlace mark, int64_t end, int64_t resumed) const;
  uint32_t left_by(const Park& park) const;
  uint32_t resumed_by(const Park& park) const;
  uint32_t parked_name(uint32_t left_by, uint32_t resumed_by);
  const Poll* poll_before(uint32_t thread, const Interval& interval, int64_t left,
                          int64_t resumed) const;
  bool worked_between(uint32_t thread, int64_t from, int64_t to) const;
  bool served_between(uint32_t thread, int64_t from, int64_t to) const;
  bool handled_one_event(const Park& park, const Poll& poll) const;
  void park(const Park& park, const Interval& interval);
  void add_readiness(const Park& park, const Poll& poll, int64_t happened, uint32_t node);
  void attribute_segment(uint32_t thread, int64_t lo, int64_t hi, const Segment& segment,
                         const Interval& interval);

  /// What a thread did, or waited for, since `left`, before a coroutine went on at `resumed`.
  struct Suspended {
    uint32_t thread;
    int64_t left;
    int64_t resumed;
    uint32_t node;
    const Segment*
        by;  ///< begins at `resumed`; null: of a thread that woke the one that resumed it
  };

  // Coroutines: suspended.cpp.
  void suspend(const IntervalSegment& previous, int64_t left, uint32_t thread, int64_t now,
               const Segment& by, uint32_t kind);
  void hardly_suspended(uint32_t thread, int64_t left, int64_t now, uint32_t coroutine);
  uint32_t coroutine_node(uint32_t thread, int64_t now, uint32_t parent);
  int64_t operand_evaluated(const IntervalSegment& previous, int64_t left, int64_t now,
                            uint32_t parent, uint32_t kind) const;
  uint32_t idle_wait(const Suspended& what) const;
  bool caused_directly(const Suspended& what, const Item& wait) const;
  bool began_awaited(const Suspended& what, int64_t from) const;
  std::optional<WakeUp> woken_by(const Suspended& what, uint32_t idle);
  std::optional<Suspended> explain(const Suspended& what);

  // Names.
  template <class MakeName>
  uint32_t cached_name(std::vector<uint32_t>& names, uint32_t index, const MakeName& make_name);
  uint32_t wait_name(uint32_t thread, uint32_t item);
  uint32_t queue_name(uint32_t sync);
  uint32_t thread_untracked(uint32_t node, uint32_t thread);

  // Within the stretches of single threads: stretch_walk.cpp.
  void attribute(uint32_t thread, int64_t lo, int64_t hi, uint32_t node, uint32_t outside,
                 bool exact = true);
  void begin_stretch(const Blame& blame, uint32_t node, uint32_t outside, uint32_t depth,
                     bool inferred);
  size_t first_ended_before(uint32_t thread, int64_t time);
  void open_enclosing_frames();
  void attribute_frames();
  bool step();
  void add(uint32_t node, int64_t ns);
  void add(uint32_t node, uint32_t thread, int64_t lo, int64_t hi, bool inferred = false);
  void deduct(Stretch& stretch, int64_t start, int64_t end);
  void make_room_for_nodes();
  static void touch(NodeTime* times, uint32_t* touched, uint32_t node, size_t& count);
  uint32_t leaf_of(uint32_t node);
  void flush_piece(Stretch& stretch, int64_t until);
  void add_piece(uint32_t thread, uint32_t node, int64_t lo, int64_t hi, bool inferred);
  void close_down_to(Stretch& stretch, uint32_t parent);
  OpenFrame& top(const Stretch& stretch) { return open_[stretch.top]; }
  OpenFrame& push(Stretch& stretch);
  void open_frame(Stretch& stretch, uint32_t index, const Item& item);
  void open_wait(uint32_t item, int64_t end);
  uint32_t node_of_top(const Stretch& stretch) const;
  uint32_t owner(const Stretch& stretch) const;

  // What is known of a wait: path_waits.cpp.
  bool find_blame(uint32_t thread, uint32_t item, int64_t from, int64_t to);
  bool has_known_wait_inside(uint32_t thread, uint32_t item, int64_t from);
  bool is_polled(uint32_t thread, uint32_t item) const;
  template <class Visit>
  void for_each_wait_inside(uint32_t thread, uint32_t item, int64_t from, const Visit& visit) const;
  bool ends_externally(uint32_t thread, uint32_t item, int64_t from) const;
  bool gave_up(uint32_t thread, uint32_t item, int64_t from) const;
  int64_t asleep_since(uint32_t thread, int64_t time) const;

  const Window& window_;
  const Sites& sites_;
  const WakeUpEdges& wake_up_edges_;
  PathTree& tree_;
  EdgeCounts edge_counts_;
  int64_t set_up_ = 0;
  std::vector<PathPiece>* pieces_ = nullptr;
  std::vector<uint32_t> wait_names_;    // by event - VPROF_EV_WAIT_FIRST, except WAIT_APP
  std::vector<uint32_t> polled_names_;  // likewise
  std::vector<uint32_t> sync_names_;    // wait(<sync function>)
  std::vector<uint32_t> file_names_;    // wait(<call>), by enum vprof_file_call
  std::vector<uint32_t> queue_names_;   // queue(<sync function>)
  std::vector<uint32_t> thread_names_;  // untracked(<thread>)
  uint32_t preempted_ = 0;
  uint32_t hand_off_ = 0;
  uint32_t untracked_ = 0;
  uint32_t unknown_waker_ = 0;
  uint32_t time_limit_ = 0;
  uint32_t timer_ = 0;
  uint32_t unknown_event_ = 0;
  uint32_t readiness_ = 0;
  uint32_t suspended_ = 0;
  int64_t frames_from_ = kNoTime;  ///< frames around a segment that began earlier are not its own
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> parked_names_;  // by the two functions
  // A stack. Those of one wait lie side by side, the latest on top; what lies above a stretch that
  // has begun is inside a wait of it.
  std::vector<Stretch> stretches_;
  std::vector<Blame> blames_;    // of the wait that is being opened
  std::vector<OpenFrame> open_;  // of all stretches; longer than needed
  std::vector<uint32_t> chain_;
  std::vector<size_t> searched_;      // by thread: where its last stretch ended
  std::vector<size_t> segment_near_;  // by thread: where its last segment was found
  std::vector<uint32_t> callers_;     // by site: Site::parent
  std::vector<NodeTime> times_;       // by node, during a walk
  std::vector<uint32_t> touched_;     // nodes that were given time come first; longer than times_
  size_t number_touched_ = 0;
  std::vector<LeafTime> leaves_;  // of the last walk
};

}  // namespace vprof::analyzer
