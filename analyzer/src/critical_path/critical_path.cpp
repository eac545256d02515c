// Algorithm 2 of the dissertation, "Aggregate Segments" (2.3.3.3).
//
// The algorithm starts at the segment in which the interval ends and walks backwards. It attributes
// the time of each segment to functions. Out of a wait it follows the wake-up edge, to attribute
// what the waker did meanwhile. At the beginning of a segment it continues with the segment that
// came before, or with the one that created this one.
//
//   In the paper                                 Here
//   ------------------------------------------   ------------------------------------------------
//   aggregate_segment                            PathWalker::walk: the recursion at its end is a
//                                                loop
//   monitor_exec_time (line 4)                   PathWalker::attribute (stretch_walk.cpp)
//   is_blocked, find_waking_segment (6, 7)       PathWalker::open_wait, WakeUpEdges::waker
//   aggregate_segment on the waker (8)           PathWalker::begin_stretch: an explicit stack of
//                                                stretches
//   get_previous_segment (11 to 21)              PathWalker::previous_segment
//   find_generator, find_generating_time (26-28) PathWalker::find_created_by_edge
//   accumulate_wait_time (17, 29)                a queue node, with what the receiver did meanwhile
//   B and E, the bounds of a call                lo and hi of a stretch
//   the table of <cid, f, et>                    PathWalker::walk's result: time per tree node
//
// docs/analysis.md lists where the pseudocode cannot be followed as printed, and why.
#include "critical_path/critical_path.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "critical_path/node_names.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// How many of a thread's dequeues are searched for the one that belongs to the interval.
constexpr int kMaxDequeues = 256;

/// Larger indices come from damaged records and are not worth a table entry.
constexpr uint32_t kMaxCachedNames = 1u << 16;

}  // namespace

PathWalker::PathWalker(const Window& window, const Sites& sites, const WakeUpEdges& wake_up_edges,
                       PathTree& tree)
    : window_(window), sites_(sites), wake_up_edges_(wake_up_edges), tree_(tree) {
  for (const Thread& thread : window.threads) {
    thread_names_.push_back(tree.intern(fmt::format("untracked({})", thread_role(thread.name))));
  }
  searched_.resize(window.threads.size());
  segment_near_.resize(window.threads.size());
  for (const Site& site : sites.sites) {
    callers_.push_back(site.parent);
  }
  preempted_ = tree.intern("preempted");
  hand_off_ = tree.intern("queue(hand-off)");
  untracked_ = tree.intern("untracked");
  unknown_waker_ = tree.intern(kUnknownWaker);
  time_limit_ = tree.intern(kTimeLimit);
  timer_ = tree.intern(kTimer);
  unknown_event_ = tree.intern(kUnknownEvent);
  readiness_ = tree.intern(kReadiness);
  suspended_ = tree.intern("co_await");
}

/// Algorithm 2. Terminates: each turn with a segment lowers `now`, and so does a park at the end of
/// the segment. A turn without one continues at a segment that has time before `now`, or follows an
/// edge to an earlier time, or is the last.
const std::vector<LeafTime>& PathWalker::walk(const Interval& interval) {
  constexpr uint32_t kRoot = PathTree::kRoot;
  set_up_ = 0;
  const int64_t begin = interval.begin;
  uint32_t thread = interval.end_thread;
  int64_t now = interval.end;
  const Segment* resumed = nullptr;  // begins at `now`, by a switch
  while (now > begin) {
    if (const Segment* segment = segment_at(thread, interval, now)) {
      if (resumed != nullptr) {  // a switch to the interval that the thread worked for already
        const int64_t left =
            resumed->by_coroutine ? now : left_at(thread, segment->marked, now, now);
        if (left < now) {
          park({thread, segment->marked, left, thread, now, resumed}, interval);
          now = left;
        }
      }
      const int64_t from = std::max(segment->start, begin);
      attribute_segment(thread, from, now, *segment, interval);
      now = from;
      if (now <= begin) {
        break;
      }
      resumed = interval.can_park() ? segment : nullptr;
      if (resumed != nullptr && segment_at(thread, interval, now) != nullptr) {
        continue;
      }
    }
    if (const auto edge = find_created_by_edge(thread, interval, now)) {
      const int64_t dequeued = std::clamp(edge->dequeued, begin, now);
      const int64_t enqueued = std::clamp(edge->enqueued, begin, dequeued);
      attribute(thread, dequeued, now, kRoot, kRoot);
      const uint32_t node = tree_.queue(kRoot, queue_name(edge->sync));
      if (enqueued < dequeued) {
        attribute(thread, enqueued, dequeued, node, thread_untracked(node, thread));
      }
      thread = edge->thread;
      now = enqueued;
    } else if (const IntervalSegment* previous =
                   previous_segment(interval, thread, now, resumed != nullptr)) {
      const int64_t left = std::max(begin, handed_over(*previous, thread, now, resumed != nullptr));
      if (left < now) {
        leave(interval, *previous, left, thread, now, resumed);
      }
      thread = previous->thread;
      now = left;
    } else {
      add(tree_.untracked(kRoot, untracked_), thread, begin, now);
      break;
    }
    resumed = nullptr;
  }
  collect_leaves();
  return leaves_;
}

/// A gap between two segments of the interval. If the thread that resumed it came from its
/// event loop, or had worked for it before, it was parked; else it was handed over.
void PathWalker::leave(const Interval& interval, const IntervalSegment& previous, int64_t left,
                       uint32_t thread, int64_t now, const Segment* resumed) {
  if (resumed != nullptr && resumed->by_coroutine) {
    suspend(previous, left, thread, now, *resumed, interval.kind);
    return;
  }
  const bool same = previous.thread == thread;
  if (interval.can_park() && (same || poll_before(thread, interval, left, now) != nullptr)) {
    park({previous.thread, previous.marked, left, thread, now, resumed}, interval);
    return;
  }
  const uint32_t node = tree_.queue(PathTree::kRoot, hand_off_);
  attribute(thread, left, now, node, thread_untracked(node, thread));
}

void PathWalker::collect_leaves() {
  leaves_.clear();
  for (const uint32_t node : std::span(touched_).first(number_touched_)) {
    const int64_t ns = std::exchange(times_[node], {}).ns;
    if (ns != 0) {
      leaves_.push_back({leaf_of(node), ns});
    }
  }
  number_touched_ = 0;
}

/// The segment in which the thread worked for the interval right before `time`.
const Segment* PathWalker::segment_at(uint32_t thread, const Interval& interval, int64_t time) {
  const std::span<const Segment> segments = window_.threads[thread].segments_of(interval.kind);
  size_t& near = segment_near_[thread];
  near = partition_point_near(segments.data(), segments.size(), near,
                              [&](const Segment& s) { return s.start < time; });
  if (near == 0) {
    return nullptr;
  }
  const Segment& segment = segments[near - 1];
  return segment.interval == interval.serial && segment.end >= time ? &segment : nullptr;
}

/// When a segment ended before `time`, at which `thread` resumes its interval. If it does so by a
/// switch, the segment ended when its thread came back to its event loop.
int64_t PathWalker::end_before(const IntervalSegment& segment, uint32_t thread, int64_t time,
                               bool resumed) const {
  const int64_t end = std::min(segment.end, time);
  return resumed && !segment.of_coroutine
             ? left_at(segment.thread, segment.marked, end, segment.thread == thread ? time : end)
             : end;
}

/// When a segment's thread can have handed the interval over to `thread`, which has it at `time`,
/// at the latest: not while it slept.
int64_t PathWalker::handed_over(const IntervalSegment& segment, uint32_t thread, int64_t time,
                                bool resumed) const {
  const int64_t end = end_before(segment, thread, time, resumed);
  return segment.thread == thread || segment.of_coroutine
             ? end
             : std::max(segment.start, asleep_since(segment.thread, end));
}

/// The segment of the interval, on any thread, that was active last before `time`. Among those
/// still active at `time`, the one that began last.
const IntervalSegment* PathWalker::previous_segment(const Interval& interval, uint32_t thread,
                                                    int64_t time, bool resumed) const {
  const IntervalSegment* first = interval.segments.data();
  const IntervalSegment* last = first + interval.segments.size();
  const IntervalSegment* at =
      std::partition_point(first, last, [&](const IntervalSegment& s) { return s.start < time; });
  const IntervalSegment* best = nullptr;
  int64_t latest = 0;
  for (; at != first; --at) {
    const IntervalSegment* candidate = at - 1;
    if (best != nullptr && std::min(candidate->latest_end, time) <= latest) {
      break;
    }
    const int64_t end = end_before(*candidate, thread, time, resumed);
    if (best == nullptr || end > latest) {
      best = candidate;
      latest = end;
    }
  }
  return best;
}

/// Whether the task was enqueued by a thread that worked for the interval, or at the very begin of
/// it.
bool PathWalker::enqueued_for(const TaskEvent& dequeue, const Interval& interval) {
  return segment_at(dequeue.from_thread, interval, dequeue.from_time) != nullptr ||
         segment_at(dequeue.from_thread, interval, dequeue.from_time + 1) != nullptr;
}

/// The dequeue that made `thread` work for the interval at `time`: its latest dequeue, since it
/// last worked for the interval, of a task enqueued for the interval. Failing that, its latest
/// dequeue, since it last worked for anything, of a task whose enqueue is known. Null: none.
/// `segment` is one past the thread's last segment before `time`; afterwards, one past the last
/// segment before the oldest dequeue looked at.
const TaskEvent* PathWalker::find_dequeue(const Thread& history, const Interval& interval,
                                          int64_t time, const Segment*& segment) {
  const Segment* const first = history.segments_of(interval.kind).data();
  const int64_t idle_since = segment == first ? INT64_MIN : (segment - 1)->end;
  const auto after = std::partition_point(history.dequeues.begin(), history.dequeues.end(),
                                          [&](const TaskEvent& d) { return d.time <= time; });
  const TaskEvent* fallback = nullptr;
  int tries = kMaxDequeues;
  for (auto it = after; it != history.dequeues.begin() && tries-- > 0;) {
    const TaskEvent& dequeue = *--it;
    if (dequeue.time < interval.begin) {
      break;
    }
    bool worked_since = false;
    while (segment != first && (segment - 1)->end > dequeue.time) {
      --segment;
      worked_since = worked_since || segment->interval == interval.serial;
    }
    if (worked_since) {
      break;
    }
    if (dequeue.from_thread == kNone || dequeue.from_time >= time) {
      continue;
    }
    if (dequeue.from_time + 1 < interval.begin) {
      continue;  // enqueued for an earlier interval
    }
    if (enqueued_for(dequeue, interval)) {
      return &dequeue;
    }
    if (fallback == nullptr && dequeue.time >= idle_since) {
      fallback = &dequeue;
    }
  }
  return fallback;
}

/// How the interval came to `thread` at `time`, if it came by a task.
std::optional<PathWalker::CreatedByEdge> PathWalker::find_created_by_edge(uint32_t thread,
                                                                          const Interval& interval,
                                                                          int64_t time) {
  const Thread& history = window_.threads[thread];
  const std::span<const Segment> segments = history.segments_of(interval.kind);
  const Segment* const first = segments.data();
  const Segment* segment = std::partition_point(first, first + segments.size(),
                                                [&](const Segment& s) { return s.start < time; });
  const TaskEvent* const dequeue = find_dequeue(history, interval, time, segment);
  if (dequeue == nullptr) {
    return std::nullopt;
  }
  CreatedByEdge edge{dequeue->from_thread, dequeue->from_time, dequeue->time, dequeue->sync};
  if (edge.thread == thread) {
    // The thread queued a task for itself and kept working for the interval. The task waited only
    // from the end of that work.
    for (; segment != first && (segment - 1)->end > edge.enqueued; --segment) {
      if ((segment - 1)->interval == interval.serial) {
        edge.enqueued = (segment - 1)->end;
        break;
      }
    }
  }
  return edge;
}

/// The number of an interned name, which is made on first use.
template <class MakeName>
uint32_t PathWalker::cached_name(std::vector<uint32_t>& names, uint32_t index,
                                 const MakeName& make_name) {
  if (index >= kMaxCachedNames) {
    return tree_.intern(make_name());
  }
  if (names.size() <= index) {
    names.resize(index + 1, kNone);
  }
  if (names[index] == kNone) {
    names[index] = tree_.intern(make_name());
  }
  return names[index];
}

/// Of a wait in slices, the name is that of the wait that ended it.
uint32_t PathWalker::wait_name(uint32_t thread, uint32_t item) {
  const Thread& history = window_.threads[thread];
  const auto wait_of = [&](uint32_t i) -> const Wait& {
    return history.waits[history.items[i].what & ~kWaitBit];
  };
  const Wait& wait = wait_of(history.last_slice(item, stretches_.back().released));
  const bool polled = wait.event == wait_of(item).event && is_polled(thread, item);
  if (wait.event == VPROF_EV_WAIT_APP) {
    return cached_name(sync_names_, wait.sync,
                       [&] { return fmt::format("wait({})", sites_.sync_name(wait.sync)); });
  }
  if (wait.event == VPROF_EV_WAIT_FILE && vprof_file_call_name(wait.sync) != nullptr) {
    return cached_name(file_names_, wait.sync,
                       [&] { return fmt::format("wait({})", vprof_file_call_name(wait.sync)); });
  }
  return cached_name(polled ? polled_names_ : wait_names_, wait.event - VPROF_EV_WAIT_FIRST, [&] {
    return fmt::format("{}({})", polled ? "polled" : "wait", wait_function(wait.event));
  });
}

uint32_t PathWalker::queue_name(uint32_t sync) {
  return cached_name(queue_names_, sync,
                     [&] { return fmt::format("queue({})", sites_.sync_name(sync)); });
}

uint32_t PathWalker::thread_untracked(uint32_t node, uint32_t thread) {
  return tree_.untracked(node, thread_names_[thread]);
}

}  // namespace vprof::analyzer
