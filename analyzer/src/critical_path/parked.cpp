// Parked intervals: a thread leaves an interval and resumes it later, as event loops do.
//
//   handler of 7                      handler of 8             handler of 7
//   |== f ==|   |.. epoll_wait ..|   |==== h ====|   |. .|    |== g ==
//           :                                        : returned: timer, descriptor ready
//           :                                            :    :
//           <-- waits for its event -------------------->      <- the rest: the loop was busy
//           <---------------- parked(f), resumed by g --->
//
// A call that blocked had nothing to return when it began. So what the interval waited for happened
// just before the last call that blocked returned; what the loop did before that delayed nothing.
// From there on, the interval waited for the loop: what the thread did is to blame.
#include <fmt/format.h>

#include <algorithm>

#include "critical_path/critical_path.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

uint32_t PathWalker::function_of(const Item& item) const {
  return sites_.sites[item.what].function;
}

/// The first of the outermost frames of the program's functions that begin at `from` or later.
/// kNone: there is none.
uint32_t PathWalker::first_frame(const Thread& history, int64_t from) const {
  // The item that ends first of all that end later, and what is around it.
  const Item* const after = std::partition_point(history.items.begin(), history.items.end(),
                                                 [&](const Item& item) { return item.end > from; });
  auto i = static_cast<uint32_t>(after - history.items.begin()) - 1;
  uint32_t first = kNone;
  for (; i != kNone && history.items[i].start >= from; i = history.items[i].parent) {
    const Item& item = history.items[i];
    first = item.is_wait() || !is_of_program(item) ? first : i;
  }
  return first;
}

/// The innermost frame of a function of the program around an instant: the call of the annotation
/// itself is none.
uint32_t PathWalker::program_frame_at(const Thread& history, int64_t time) const {
  uint32_t frame = history.frame_at(time);
  while (frame != kNone &&
         (history.items[frame].is_wait() || !is_of_program(history.items[frame]))) {
    frame = history.items[frame].parent;
  }
  return frame;
}

bool PathWalker::is_of_program(const Item& frame) const {
  const uint32_t function = function_of(frame);
  return function != kNone && !sites_.functions[function].file.empty();
}

/// The frame of the function that a mark belongs to. Of a mark at the end of its function it is the
/// next frame, which does the work. A frame that is still open when the thread resumes the
/// interval, at `resumed`, is the loop's own. kNone: not known.
uint32_t PathWalker::frame_of(const Thread& history, MarkPlace mark, int64_t resumed) const {
  const auto is_of_loop = [&](uint32_t i) { return history.items[i].end > resumed; };
  const uint32_t around = program_frame_at(history, mark.time);
  const uint32_t next = first_frame(history, mark.time);
  if (around != kNone && !is_of_loop(around)) {
    const Item& frame = history.items[around];
    if (!mark.configured && mark.time - frame.start <= frame.end - mark.time) {
      return around;
    }
  }
  if (next != kNone && !is_of_loop(next)) {
    return next;
  }
  return around != kNone && !is_of_loop(around) ? around : kNone;
}

/// Whether a call of poll is a part of the work that begins with a mark: it lies within the
/// function of the mark.
bool PathWalker::waits_within(const Thread& history, MarkPlace mark, const Poll& poll,
                              int64_t resumed) const {
  const uint32_t frame = frame_of(history, mark, resumed);
  return frame != kNone && history.items[frame].start <= poll.start &&
         history.items[frame].end >= poll.time;
}

/// When the thread that works for an interval up to `end` has left it: at its first call of poll
/// outside the function in which its last mark for it is. `resumed`: when it resumes it.
int64_t PathWalker::left_at(uint32_t thread, MarkPlace mark, int64_t end, int64_t resumed) const {
  const Thread& history = window_.threads[thread];
  for (const Poll& poll : history.polls_within(mark.time, end)) {
    if (!waits_within(history, mark, poll, resumed)) {
      return poll.start;
    }
  }
  return end;
}

/// The function that left the interval: the one with the thread's last mark for it. kNone: unknown.
uint32_t PathWalker::left_by(const Park& park) const {
  const Thread& history = window_.threads[park.left_thread];
  const uint32_t frame = frame_of(history, park.marked, park.resumed);
  const bool known = frame != kNone && history.items[frame].start < park.left;
  return known ? function_of(history.items[frame]) : kNone;
}

/// The function in which the thread resumes the interval. kNone: not known.
uint32_t PathWalker::resumed_by(const Park& park) const {
  const Thread& history = window_.threads[park.thread];
  if (park.by != nullptr) {
    const uint32_t frame = frame_of(history, {park.resumed, park.by->marked.configured}, INT64_MAX);
    const bool in_loop = frame != kNone && history.items[frame].start < park.left;
    const uint32_t function = in_loop ? first_frame(history, park.resumed) : frame;
    return function == kNone ? kNone : function_of(history.items[function]);
  }
  // The interval has ended in it, or as it returned.
  uint32_t around = program_frame_at(history, park.resumed - 1);
  if (around != kNone && history.items[around].start < park.left) {
    around = kNone;
  }
  return around == kNone ? kNone : function_of(history.items[around]);
}

uint32_t PathWalker::parked_name(uint32_t left_by, uint32_t resumed_by) {
  const auto [known, is_new] = parked_names_.try_emplace({left_by, resumed_by}, 0);
  if (is_new) {
    const auto name = [&](uint32_t function) { return sites_.functions[function].name; };
    std::string text = left_by == kNone ? "parked" : fmt::format("parked({})", name(left_by));
    if (resumed_by != kNone) {
      text += fmt::format(", resumed by {}", name(resumed_by));
    }
    known->second = tree_.intern(text);
  }
  return known->second;
}

/// The last call of poll after `left` and before the thread resumed the interval, at `resumed`. One
/// in the middle of the work for another interval is none. Null: there is none.
const Poll* PathWalker::poll_before(uint32_t thread, const Interval& interval, int64_t left,
                                    int64_t resumed) const {
  const Thread& history = window_.threads[thread];
  const std::span<const Poll> polls = history.polls_within(kNoTime, resumed);
  for (size_t i = polls.size(); i-- > 0;) {
    const Poll& poll = polls[i];
    if (poll.time <= left) {
      break;
    }
    MarkPlace mark;  // the last one before it
    for (const std::vector<Segment>& of_kind : history.segments) {
      const auto after = std::partition_point(
          of_kind.begin(), of_kind.end(), [&](const Segment& s) { return s.start <= poll.start; });
      if (after != of_kind.begin() && (after - 1)->marked.time >= interval.begin &&
          (after - 1)->marked.time > mark.time) {
        mark = (after - 1)->marked;
      }
    }
    if (mark.time == kNoTime || !waits_within(history, mark, poll, resumed)) {
      return &poll;
    }
  }
  return nullptr;
}

/// Whether the thread did something between two instants: called a function, or began to work for
/// an interval.
bool PathWalker::worked_between(uint32_t thread, int64_t from, int64_t to) const {
  if (served_between(thread, from, to)) {
    return true;
  }
  const Thread& history = window_.threads[thread];
  const Item* item = std::partition_point(history.items.begin(), history.items.end(),
                                          [&](const Item& i) { return i.end > to; });
  for (; item != history.items.end() && item->end > from; ++item) {
    if (item->start >= from && !item->is_wait()) {
      return true;
    }
  }
  return false;
}

/// Whether the thread began to work for an interval between two instants.
bool PathWalker::served_between(uint32_t thread, int64_t from, int64_t to) const {
  const std::vector<std::vector<Segment>>& segments = window_.threads[thread].segments;
  return std::any_of(segments.begin(), segments.end(), [&](const std::vector<Segment>& of_kind) {
    const auto at = std::partition_point(of_kind.begin(), of_kind.end(),
                                         [&](const Segment& s) { return s.start < from; });
    return at != of_kind.end() && at->start < to;
  });
}

/// Whether all that the thread did between the return of `poll` and the resumption is due to the
/// one descriptor that was ready: no timer can have been due, and nobody else was served. What was
/// called in between is then a part of handling that descriptor.
bool PathWalker::handled_one_event(const Park& park, const Poll& poll) const {
  // Loops reckon their limits in whole milliseconds.
  constexpr int64_t kRounding = 1'000'000;
  const bool timer_was_due = poll.limit == kNoTime || poll.limit - kRounding <= park.resumed;
  // A mark knows of all others, a segment only of intervals whose begin was recorded.
  const bool others_first = (park.by != nullptr && park.by->others_first) ||
                            served_between(park.thread, poll.time, park.resumed);
  return poll.one_ready && !timer_was_due && !others_first;
}

/// [left, resumed], in which no thread worked for the interval and `thread` waited for descriptors,
/// or was busy with others.
void PathWalker::park(const Park& park, const Interval& interval) {
  const uint32_t node = tree_.parked(PathTree::kRoot, parked_name(left_by(park), resumed_by(park)));
  const Poll* const poll = poll_before(park.thread, interval, park.left, park.resumed);
  const int64_t happened = poll == nullptr ? park.left : std::min(poll->time, park.resumed);
  if (happened < park.resumed) {
    attribute(park.thread, happened, park.resumed, node, thread_untracked(node, park.thread));
  }
  if (poll == nullptr || happened <= park.left) {
    return;
  }
  // Calls that did not block may have returned since. Of several events, the first is recorded.
  const bool is_last = park.by == nullptr || park.by->polled <= poll->time;
  const bool is_first = is_last && (!worked_between(park.thread, happened, park.resumed) ||
                                    handled_one_event(park, *poll));
  if (is_last && poll->wait.event == VPROF_EV_WAIT_TIMER && (poll->wait.timed_out || is_first)) {
    ++edge_counts_.outside;
    add(tree_.untracked(node, timer_), park.thread, park.left, happened);
  } else if (is_first) {
    add_readiness(park, *poll, happened, node);
  } else {
    ++edge_counts_.outside;
    add(tree_.untracked(node, unknown_event_), park.thread, park.left, happened);
  }
}

/// What the interval waited for: that a descriptor is ready. Below it, whoever made it ready.
void PathWalker::add_readiness(const Park& park, const Poll& poll, int64_t happened,
                               uint32_t node) {
  std::string name = kReadiness;
  // In a tree of many intervals, the number would only make many nodes of one.
  if (pieces_ != nullptr && poll.wait.sync != 0) {
    name += fmt::format(" of descriptor {}", poll.wait.sync - 1);
  }
  std::optional<WakeUp> waker =
      wake_up_edges_.waker(park.thread, poll.wait, std::max(poll.start, park.left), poll.time);
  if (!waker) {  // it may have been made ready just before the interval was left
    waker = wake_up_edges_.waker(park.thread, poll.wait, poll.start, poll.time);
  }
  if (!waker) {
    ++edge_counts_.outside;
    add(tree_.untracked(node, tree_.intern(name)), park.thread, park.left, happened);
    return;
  }
  ++(waker->exact ? edge_counts_.exact : edge_counts_.inferred);
  const uint32_t wait = tree_.wait(node, tree_.intern(fmt::format("wait({})", name)));
  const int64_t ready = std::clamp(waker->time, park.left, happened - 1);
  add(wait, park.thread, ready, happened);
  if (park.left < ready) {
    attribute(waker->thread, park.left, ready, wait, thread_untracked(wait, waker->thread),
              waker->exact);
  }
}

/// The time in which the thread worked for the interval. Without a switch it is not known when the
/// thread resumed it; only that it did not while its loop waited.
void PathWalker::attribute_segment(uint32_t thread, int64_t lo, int64_t hi, const Segment& segment,
                                   const Interval& interval) {
  const MarkPlace mark = segment.marked;
  if (segment.by_coroutine) {
    frames_from_ = lo;
    attribute(thread, lo, hi, PathTree::kRoot, PathTree::kRoot);
    frames_from_ = kNoTime;
    return;
  }
  if (interval.can_park() && !interval.of_coroutine) {
    const Thread& history = window_.threads[thread];
    const std::span<const Poll> polls = history.polls_within(lo, hi);
    uint32_t name = kNone;
    for (size_t i = polls.size(); i-- > 0;) {
      const Poll& poll = polls[i];
      if (!poll.epoll || waits_within(history, mark, poll, INT64_MAX)) {
        continue;
      }
      const int64_t returned = std::min(poll.time, hi);
      attribute(thread, returned, hi, PathTree::kRoot, PathTree::kRoot);
      if (name == kNone) {
        const int64_t left = left_at(thread, mark, hi, INT64_MAX);
        name = parked_name(left_by({thread, mark, left, thread, left, nullptr}), kNone);
      }
      const uint32_t node = tree_.parked(PathTree::kRoot, name);
      ++edge_counts_.outside;
      add(tree_.untracked(node, unknown_event_), thread, poll.start, returned);
      hi = poll.start;
    }
  }
  attribute(thread, lo, hi, PathTree::kRoot, PathTree::kRoot);
}

}  // namespace vprof::analyzer
