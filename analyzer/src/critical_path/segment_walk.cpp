// The critical path of an interval from segment to segment, by created-by edges and hand-offs. What
// lies within one thread, and the waits in it: path.cpp.
#include <algorithm>
#include <utility>

#include "critical_path/critical_path.h"

namespace vprof::analyzer {
namespace {

// How far back among a thread's dequeues the one of the interval is searched.
constexpr int kMaxDequeues = 256;

}  // namespace

/// The segment in which the thread worked for the interval right before `time`.
const Segment* PathWalker::segment_at(uint32_t thread, uint32_t interval, int64_t time) const {
  const std::vector<Segment>& segments = window_.threads[thread].segments;
  const auto after = std::partition_point(segments.begin(), segments.end(),
                                          [&](const Segment& s) { return s.start < time; });
  if (after == segments.begin()) {
    return nullptr;
  }
  const Segment& segment = *(after - 1);
  return segment.interval == interval && segment.end >= time ? &segment : nullptr;
}

/// The segment of the interval, on any thread, that was still active latest before `time`; of
/// several that go on at `time`, the one that began last.
const IntervalSegment* PathWalker::previous_segment(const Interval& interval, int64_t time) {
  const IntervalSegment* first = interval.segments.data();
  const IntervalSegment* last = first + interval.segments.size();
  const IntervalSegment* at =
      std::partition_point(first, last, [&](const IntervalSegment& s) { return s.start < time; });
  const IntervalSegment* best = nullptr;
  for (; at != first; --at) {
    const IntervalSegment* candidate = at - 1;
    if (best != nullptr && std::min(candidate->latest_end, time) <= std::min(best->end, time)) {
      break;
    }
    if (best == nullptr || std::min(candidate->end, time) > std::min(best->end, time)) {
      best = candidate;
    }
  }
  return best;
}

/// Whether the thread that enqueued the task did so while it worked for the interval; also right at
/// the begin.
bool PathWalker::enqueued_for(const TaskEvent& dequeue, uint32_t interval) const {
  return segment_at(dequeue.from_thread, interval, dequeue.from_time) != nullptr ||
         segment_at(dequeue.from_thread, interval, dequeue.from_time + 1) != nullptr;
}

/// The dequeue by which `thread` came to work for the interval at `time`, and where the task came
/// from: the latest dequeue of a task that was enqueued on behalf of the interval, since the thread
/// last worked for it; else the latest one since it last worked for anything.
bool PathWalker::find_origin(uint32_t thread, const Interval& interval, int64_t time,
                             Origin& origin) const {
  const Thread& history = window_.threads[thread];
  const auto before = [&](int64_t t) {  // the last segment that began before t
    return std::partition_point(history.segments.begin(), history.segments.end(),
                                [&](const Segment& s) { return s.start < t; });
  };
  const auto labelled = before(time);
  const int64_t idle_since = labelled == history.segments.begin() ? INT64_MIN : (labelled - 1)->end;
  const auto after = std::partition_point(history.dequeues.begin(), history.dequeues.end(),
                                          [&](const TaskEvent& d) { return d.time <= time; });
  const TaskEvent* fallback = nullptr;
  const TaskEvent* found = nullptr;
  auto segment = labelled;  // the one before it is the last that began before the dequeue looked at
  int tries = kMaxDequeues;
  for (auto it = after; it != history.dequeues.begin() && found == nullptr && tries-- > 0;) {
    const TaskEvent& dequeue = *--it;
    if (dequeue.time < interval.begin) {
      break;
    }
    bool worked_since = false;
    while (segment != history.segments.begin() && (segment - 1)->end > dequeue.time) {
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
      continue;  // not on behalf of it
    }
    if (enqueued_for(dequeue, interval.serial)) {
      found = &dequeue;
    } else if (fallback == nullptr && dequeue.time >= idle_since) {
      fallback = &dequeue;
    }
  }
  if (found == nullptr) {
    found = fallback;
  }
  if (found == nullptr) {
    return false;
  }
  origin = {found->from_thread, found->from_time, found->time, found->sync};
  if (origin.thread == thread) {
    // It queued its own task and went on with the interval: that went before, so the task waited
    // only from then on.
    for (auto s = segment; s != history.segments.begin() && (s - 1)->end > origin.enqueued; --s) {
      if ((s - 1)->interval != interval.serial) {
        continue;
      }
      origin.enqueued = (s - 1)->end;
      break;
    }
  }
  return true;
}

/// Every turn but one without a segment lowers `now`; and one without a segment goes to a segment
/// that holds time before `now`, or on by an edge that leads to an earlier time, or ends. So the
/// walk ends.
const std::vector<LeafTime>& PathWalker::walk(const Interval& interval) {
  constexpr uint32_t kRoot = PathTree::kRoot;
  const int64_t begin = interval.begin;
  uint32_t thread = interval.end_thread;
  int64_t now = interval.end;
  while (now > begin) {
    if (const Segment* segment = segment_at(thread, interval.serial, now)) {
      const int64_t from = std::max(segment->start, begin);
      lay(thread, from, now, kRoot, kRoot);
      now = from;
      if (now <= begin) {
        break;
      }
    }
    Origin origin{};
    if (find_origin(thread, interval, now, origin)) {
      const int64_t dequeued = std::clamp(origin.dequeued, begin, now);
      const int64_t enqueued = std::clamp(origin.enqueued, begin, dequeued);
      lay(thread, dequeued, now, kRoot, kRoot);
      const uint32_t node = tree_.queue(kRoot, queue_name(origin.sync));
      if (enqueued < dequeued) {
        lay(thread, enqueued, dequeued, node, thread_untracked(node, thread));
      }
      thread = origin.thread;
      now = enqueued;
    } else if (const IntervalSegment* previous = previous_segment(interval, now)) {
      const int64_t left = std::max(begin, std::min(previous->end, now));
      if (left < now) {
        const uint32_t node = tree_.queue(kRoot, hand_off_);
        lay(thread, left, now, node, thread_untracked(node, thread));
      }
      thread = previous->thread;
      now = left;
    } else {
      add(tree_.untracked(kRoot, untracked_), thread, begin, now);
      break;
    }
  }
  leaves_.clear();
  for (const uint32_t node : touched_) {
    const int64_t ns = std::exchange(times_[node], {}).ns;
    if (ns != 0) {
      leaves_.push_back({leaf_of(node), ns});
    }
  }
  touched_.clear();
  return leaves_;
}

}  // namespace vprof::analyzer
