// The critical path of an interval (dissertation 2.3.3.3, Algorithm 2), walked back from its end,
// as times of tree nodes.
//
//   end ◀── own frames ◀── wait: frames of the waker ◀── own frames ◀── queue ◀── frames of the
//   thread that enqueued ◀── begin
//
// Law: the times found add up to the latency exactly, to the nanosecond. Why it holds and why the
// walk ends: docs/analysis.md.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "critical_path/path_tree.h"
#include "critical_path/segments.h"
#include "critical_path/wake_up_edges.h"
#include "trace/frame_history.h"

namespace vprof::analyzer {

struct EdgeCounts {
  uint64_t exact = 0;
  uint64_t inferred = 0;
  uint64_t outside = 0;  ///< waits for disks, clocks and peers that are not recorded
  uint64_t unknown = 0;  ///< other waits that stay waits
};

/// Time of one leaf in one interval, ns.
struct LeafTime {
  uint32_t node;
  int64_t ns;
};

/// A stretch of the path: what `thread` did, or waited for, from lo to hi, ns.
struct PathPiece {
  uint32_t thread;
  uint32_t leaf;
  int64_t lo, hi;
};

class PathWalker {
 public:
  PathWalker(const Window& window, const Sites& sites, const Links& links, PathTree& tree);

  /// Leaves of the path of a complete interval; each leaf once, in no particular order but always
  /// the same one. Valid until the next call.
  const std::vector<LeafTime>& walk(const Interval& interval);

  /// From now on every stretch goes to `pieces`, too (null: no longer). They tile the interval.
  void record_pieces(std::vector<PathPiece>* pieces) { pieces_ = pieces; }

  const EdgeCounts& edges() const { return edges_; }

 private:
  /// One stretch [lo, now] of a thread whose frames are being laid below `node`, from its end to
  /// its beginning.
  struct Stretch {
    uint32_t thread;
    int64_t lo;
    int64_t now;       // everything later is done, but for what the open frames hold
    size_t next;       // item to look at next
    uint32_t node;     // parent of the outermost frames
    size_t base, top;  // open_[base] has the time that no frame covers; behind it, up to
                       // open_[top], stand the open frames
    bool begun;        // the frames that cover its end are open
    int64_t told;      // everything later is among the pieces
    bool has_open() const { return top != base; }
  };
  struct OpenFrame {
    uint32_t item;  // kNone: the lowest of a stretch, which is no frame
    uint32_t node;
    uint32_t above;   // node that holds `node`, for arguments evaluated within this call
    uint32_t caller;  // function that holds the call site; kNone: not a call site
  };
  struct NodeTime {
    int64_t ns = 0;
    bool listed = false;  // in touched_
  };
  struct Origin {
    uint32_t thread;
    int64_t enqueued, dequeued;
    uint32_t sync;
  };

  void add(uint32_t node, int64_t ns);
  void list(uint32_t node);
  void add(uint32_t node, uint32_t thread, int64_t lo, int64_t hi);
  uint32_t leaf_of(uint32_t node);
  void lay(uint32_t thread, int64_t lo, int64_t hi, uint32_t node, uint32_t outside);
  void begin_stretch(uint32_t thread, int64_t lo, int64_t hi, uint32_t node, uint32_t outside);
  size_t first_ended_before(uint32_t thread, int64_t time);
  void open_chain();
  void pass_frames();
  bool step();
  void tell(Stretch& stretch, int64_t until);
  void make_piece(uint32_t thread, uint32_t node, int64_t lo, int64_t hi);
  void take(Stretch& stretch, int64_t start, int64_t end);
  void close_above(Stretch& stretch, uint32_t parent);
  OpenFrame& top(const Stretch& stretch) { return open_[stretch.top]; }
  OpenFrame& push(Stretch& stretch);
  void open_frame(Stretch& stretch, uint32_t index, const Item& item);
  void open_wait(uint32_t item, int64_t end);
  bool has_known_wait_inside(uint32_t thread, uint32_t item, int64_t from) const;
  bool ends_from_outside(uint32_t thread, uint32_t item, int64_t from) const;
  uint32_t node_of_top(const Stretch& stretch) const;
  uint32_t holder(const Stretch& stretch) const;

  const Segment* segment_at(uint32_t thread, uint32_t interval, int64_t time) const;
  static const IntervalSegment* previous_segment(const Interval& interval, int64_t time);
  bool enqueued_for(const TaskEvent& dequeue, uint32_t interval) const;
  bool find_origin(uint32_t thread, const Interval& interval, int64_t time, Origin& origin) const;
  uint32_t wait_name(const Wait& wait);
  uint32_t queue_name(uint32_t sync);
  uint32_t thread_untracked(uint32_t node, uint32_t thread);

  const Window& window_;
  const Sites& sites_;
  const Links& links_;
  PathTree& tree_;
  EdgeCounts edges_;
  std::vector<PathPiece>* pieces_ = nullptr;
  std::vector<uint32_t> wait_names_;    // by event - VPROF_EV_WAIT_FIRST, but for WAIT_APP
  std::vector<uint32_t> sync_names_;    // wait(<sync function>)
  std::vector<uint32_t> queue_names_;   // queue(<sync function>)
  std::vector<uint32_t> thread_names_;  // untracked(<thread>)
  uint32_t preempted_ = 0;
  uint32_t hand_off_ = 0;
  uint32_t untracked_ = 0;
  uint32_t unknown_waker_ = 0;
  std::vector<Stretch> stretches_;
  std::vector<OpenFrame> open_;  // of all stretches; longer than they need
  std::vector<uint32_t> chain_;
  std::vector<size_t> searched_;   // by thread: where its last stretch ended
  std::vector<uint32_t> callers_;  // by site: Site::parent
  std::vector<NodeTime> times_;    // by node; during a walk
  std::vector<uint32_t> touched_;  // nodes that were given time
  std::vector<LeafTime> leaves_;   // of the last walk
};

}  // namespace vprof::analyzer
