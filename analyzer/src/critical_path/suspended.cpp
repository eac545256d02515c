// Suspended coroutines: an interval leaves a thread at a co_await, and goes on where somebody
// resumes the coroutine.
//
//   thread 1   |== f ==| co_await g     |==== h ====|
//   thread 2   |... waits ...| returned |. loop .|== f ==|
//                       :    :                   :
//                       left :                   resumed
//                            :<-- the thread --->
//                       <--->: whoever ended that wait
//
// A thread that waited outside all work was idle: it had nothing to resume. So what the coroutine
// waited for had not happened by then, and the path goes on to whoever ended that wait, or to the
// timer or peer. What the thread did from there to the resumption is to blame for the rest.
#include <algorithm>

#include "critical_path/critical_path.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// As of calls that cannot be tried first: what took less did not wait.
constexpr int64_t kShortestNs = 5000;

/// How many records of a thread are searched, backwards, for its last idle wait, and forwards for
/// the operand of a co_await.
constexpr int kMostSearched = 4096;
constexpr int kMostOfOperand = 64;

/// How many threads woke one another, one after the other, before a coroutine went on.
constexpr int kMostWakers = 64;

/// Whether a thread that has nothing to do waits like this.
bool may_be_idle(uint32_t event) {
  switch (event) {
    case VPROF_EV_WAIT_POLL:
    case VPROF_EV_WAIT_ROOM:
    case VPROF_EV_WAIT_TIMER:
    case VPROF_EV_WAIT_COND:
    case VPROF_EV_WAIT_SEM:
    case VPROF_EV_WAIT_FUTEX:
    case VPROF_EV_WAIT_STREAM:
    case VPROF_EV_WAIT_SIGNAL:
    case VPROF_EV_WAIT_QUEUE:
    case VPROF_EV_WAIT_SYSV:
    case VPROF_EV_WAIT_RING:
      return true;
    default:
      return false;
  }
}

}  // namespace

/// The coroutine that was suspended, below those that await it: frames that begin exactly when it
/// goes on. If it begins then, the one that awaits it was suspended.
uint32_t PathWalker::coroutine_node(uint32_t thread, int64_t now, uint32_t parent) {
  const Thread& history = window_.threads[thread];
  chain_.clear();
  for (uint32_t i = history.frame_at(now); i != kNone && history.items[i].start == now;
       i = history.items[i].parent) {
    if (!history.items[i].is_wait()) {
      chain_.push_back(history.items[i].what);
    }
  }
  uint32_t node = PathTree::kRoot;
  for (size_t i = chain_.size(); i-- > 0;) {
    node = tree_.frame(node, chain_[i]);
    if (sites_.sites[chain_[i]].function == parent) {
      break;
    }
  }
  return node;
}

/// When the calls in the operand of a co_await were done: calls of the coroutine `parent` that
/// began after it had left the interval, before the thread worked for another one.
int64_t PathWalker::operand_evaluated(const IntervalSegment& previous, int64_t left, int64_t now,
                                      uint32_t parent, uint32_t kind) const {
  const Thread& history = window_.threads[previous.thread];
  const std::span<const Segment> segments = history.segments_of(kind);
  const auto next = std::partition_point(segments.begin(), segments.end(),
                                         [&](const Segment& s) { return s.start < left; });
  const int64_t limit = next == segments.end() ? now : std::min(now, next->start);
  const Item* const after = std::partition_point(history.items.begin(), history.items.end(),
                                                 [&](const Item& item) { return item.end > left; });
  int64_t evaluated = left;
  int tries = kMostOfOperand;
  for (auto i = static_cast<size_t>(after - history.items.begin());
       i > 0 && tries > 0 && history.items[i - 1].end <= limit; --i, --tries) {
    const Item& item = history.items[i - 1];
    const bool called = !item.is_wait() && parent != kNone && callers_[item.what] == parent;
    if (called && item.start >= left) {
      evaluated = item.end;
    }
  }
  return evaluated;
}

/// The thread's last wait before `resumed` that is part of no work that began after `left`.
/// kNone: it was busy all the time.
uint32_t PathWalker::idle_wait(const Suspended& what) const {
  const Thread& history = window_.threads[what.thread];
  const ItemArray& items = history.items;
  const Item* const first = std::partition_point(
      items.begin(), items.end(), [&](const Item& item) { return item.end > what.resumed; });
  auto i = static_cast<uint32_t>(first - items.begin());
  for (int tries = kMostSearched; i < items.size() && items[i].end > what.left && tries > 0;
       ++i, --tries) {
    const Item& item = items[i];
    if (!item.is_wait() || !may_be_idle(history.waits[item.what & ~kWaitBit].event)) {
      continue;
    }
    uint32_t around = item.parent;
    while (around != kNone && items[around].start < what.left) {
      around = items[around].parent;
    }
    const bool for_interval =
        std::ranges::any_of(history.segments, [&](const std::vector<Segment>& of_kind) {
          const auto after =
              std::partition_point(of_kind.begin(), of_kind.end(),
                                   [&](const Segment& s) { return s.start <= item.start; });
          return after != of_kind.begin() && (after - 1)->end >= item.end;
        });
    if (around == kNone && !for_interval) {
      return i;
    }
  }
  return kNone;
}

/// Whether the first that the thread did from an instant on was to run a coroutine of those that
/// the co_await may have begun, such as one that it handed to the thread's executor. It was handed
/// over when the other was suspended, or is before that in the executor's queue.
bool PathWalker::began_awaited(const Suspended& what, int64_t from) const {
  if (what.by->suspension >= sites_.suspensions.size()) {
    return false;
  }
  const std::vector<uint32_t>& awaits = sites_.suspensions[what.by->suspension].awaits;
  const Thread& history = window_.threads[what.thread];
  int64_t begun = INT64_MAX;
  bool awaited = false;
  const Item* item = std::partition_point(history.items.begin(), history.items.end(),
                                          [&](const Item& i) { return i.end > what.resumed; });
  for (; item != history.items.end() && item->end > from; ++item) {
    if (item->start < from || item->is_wait() || item->start > begun) {
      continue;
    }
    const bool is_one = std::ranges::find(awaits, function_of(*item)) != awaits.end();
    awaited = is_one || (awaited && item->start == begun);
    begun = item->start;
  }
  return awaited && !worked_between(what.thread, from, begun);
}

/// Whether what ended the wait is what the coroutine waited for: the thread has resumed it since
/// then from within a function, or first of all, or has run what was awaited first of all. Of
/// several events, the first is recorded.
bool PathWalker::caused_directly(const Suspended& what, const Item& wait) const {
  if (what.by == nullptr) {
    return true;  // it woke another thread
  }
  const Thread& history = window_.threads[what.thread];
  uint32_t frame = history.frame_at(what.resumed);
  while (frame != kNone && history.items[frame].start == what.resumed) {
    frame = history.items[frame].parent;
  }
  if (frame != kNone && history.items[frame].start >= wait.end) {
    return true;
  }
  return what.by->polled <= wait.end &&
         (!worked_between(what.thread, wait.end, what.resumed) || began_awaited(what, wait.end));
}

/// Who ended the idle wait. Nothing: not known.
std::optional<WakeUp> PathWalker::woken_by(const Suspended& what, uint32_t idle) {
  const Thread& history = window_.threads[what.thread];
  const Item& item = history.items[idle];
  const Wait& wait = history.waits[item.what & ~kWaitBit];
  const int64_t from = std::max(item.start, what.left);
  if (wait.event == VPROF_EV_WAIT_POLL || wait.event == VPROF_EV_WAIT_ROOM) {
    const std::optional<WakeUp> waker = wake_up_edges_.waker(what.thread, wait, from, item.end);
    // It may have been made ready just before the coroutine was suspended.
    return waker ? waker : wake_up_edges_.waker(what.thread, wait, item.start, item.end);
  }
  blames_.clear();
  wake_up_edges_.blame(what.thread, idle, {from, item.end, item.end}, blames_);
  if (blames_.empty()) {
    return std::nullopt;
  }
  // Of a condition, the first is the signaller, before those who held the mutex.
  const Blame& blame = wait.event == VPROF_EV_WAIT_COND ? blames_.front() : blames_.back();
  if (blame.thread == kNone) {
    return std::nullopt;
  }
  // Nothing to blame: the signal was before the coroutine was suspended.
  const int64_t time = blame.from == blame.to ? from : blame.released;
  return WakeUp{blame.thread, time, blame.exact};
}

/// Attributes [left, resumed] down to the thread's last idle wait. Returns what ended that, if it
/// was another thread.
std::optional<PathWalker::Suspended> PathWalker::explain(const Suspended& what) {
  const uint32_t node = what.node;
  const Thread& history = window_.threads[what.thread];
  const uint32_t outside = thread_untracked(node, what.thread);
  const uint32_t idle = idle_wait(what);
  if (idle == kNone) {
    attribute(what.thread, what.left, what.resumed, node, outside);
    return std::nullopt;
  }
  const Item& item = history.items[idle];
  const int64_t happened = std::min(item.end, what.resumed);
  if (happened < what.resumed) {
    attribute(what.thread, happened, what.resumed, node, outside);
  }
  const Wait& wait = history.waits[item.what & ~kWaitBit];
  const bool is_last = what.by == nullptr || what.by->polled <= item.end;
  const bool timer = wait.event == VPROF_EV_WAIT_TIMER || wait.timed_out;
  const bool caused = caused_directly(what, item);
  if (timer && (caused || (is_last && wait.timed_out))) {
    ++edge_counts_.outside;
    add(tree_.untracked(node, timer_), what.thread, what.left, happened);
    return std::nullopt;
  }
  if (!caused) {
    ++edge_counts_.outside;
    add(tree_.untracked(node, unknown_event_), what.thread, what.left, happened);
    return std::nullopt;
  }
  const std::optional<WakeUp> waker = woken_by(what, idle);
  if (!waker || waker->thread == what.thread) {
    const bool polled = wait.event == VPROF_EV_WAIT_POLL || wait.event == VPROF_EV_WAIT_ROOM ||
                        wait.event == VPROF_EV_WAIT_STREAM;
    ++(polled ? edge_counts_.outside : edge_counts_.unknown);
    add(tree_.untracked(node, polled ? readiness_ : unknown_waker_), what.thread, what.left,
        happened);
    return std::nullopt;
  }
  ++(waker->exact ? edge_counts_.exact : edge_counts_.inferred);
  const int64_t woken = std::clamp(waker->time, what.left, happened);
  add(node, what.thread, woken, happened, !waker->exact);
  if (woken <= what.left) {
    return std::nullopt;
  }
  return Suspended{waker->thread, what.left, woken, node, nullptr};
}

/// [left, now] of one thread, which is too short to wait: calls in it are those of the coroutine,
/// such as in the operand of its co_await. Whoever ran it until then, or resumed it, is no callee.
void PathWalker::hardly_suspended(uint32_t thread, int64_t left, int64_t now, uint32_t coroutine) {
  const ItemArray& items = window_.threads[thread].items;
  const Item* item =
      std::partition_point(items.begin(), items.end(), [&](const Item& i) { return i.end >= now; });
  while (item != items.end() && item->end > left && item->start >= left) {
    ++item;
  }
  const int64_t since = item == items.end() ? left : std::max(left, item->end);
  frames_from_ = left;
  attribute(thread, since, now, coroutine, coroutine);
  frames_from_ = kNoTime;
  if (left < since) {
    add(coroutine, thread, left, since);
  }
}

/// [left, now], in which no thread worked for the interval, since its coroutine was suspended. It
/// went on at `now`.
void PathWalker::suspend(const IntervalSegment& previous, int64_t left, uint32_t thread,
                         int64_t now, const Segment& by, uint32_t kind) {
  const bool known = by.suspension < sites_.suspensions.size();
  const uint32_t parent = known ? sites_.suspensions[by.suspension].parent : kNone;
  const uint32_t coroutine = coroutine_node(thread, now, parent);
  if (previous.thread == thread && now - left < kShortestNs) {
    hardly_suspended(thread, left, now, coroutine);
    return;
  }
  const uint32_t name = known ? tree_.intern(sites_.suspensions[by.suspension].name) : suspended_;
  const uint32_t node = tree_.wait(coroutine, name);
  const int64_t evaluated = operand_evaluated(previous, left, now, parent, kind);
  if (left < evaluated) {
    attribute(previous.thread, left, evaluated, node, node);
  }
  std::optional<Suspended> what = Suspended{thread, evaluated, now, node, &by};
  for (int wakers = kMostWakers; what && what->left < what->resumed; --wakers) {
    if (wakers == 0) {
      add(tree_.untracked(node, unknown_waker_), what->thread, what->left, what->resumed);
      return;
    }
    what = explain(*what);
  }
}

}  // namespace vprof::analyzer
