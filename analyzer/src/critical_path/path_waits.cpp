// What is known of a wait on the critical path: its waker, and whether it could have had one.
#include <algorithm>

#include "critical_path/critical_path.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Waits for disks, clocks, and the other end of a connection (a client, another machine).
bool is_external(uint32_t event) {
  return event == VPROF_EV_WAIT_FILE || event == VPROF_EV_WAIT_TIMER ||
         event == VPROF_EV_WAIT_STREAM || event == VPROF_EV_WAIT_POLL ||
         event == VPROF_EV_WAIT_SEND || event == VPROF_EV_WAIT_ROOM || event == VPROF_EV_WAIT_RING;
}

/// Calls that wait for room, and then pass on what they were given. Within an application's lock
/// may be anything.
bool hands_over_at_end(uint32_t event) {
  return event == VPROF_EV_WAIT_SEND || event == VPROF_EV_WAIT_QUEUE || event == VPROF_EV_WAIT_APP;
}

/// Longer chains of wakers are cut: the last wait stays a wait. This bounds memory; time is bounded
/// anyway.
constexpr size_t kMaxWakers = 256;

/// The least number of similar sleeps in a row that count as slices of one wait.
constexpr int kPolledSlices = 3;

/// Slices are sleeps of one frame, or calls that sleep (`std::this_thread::sleep_for`). More levels
/// would be work that is done again and again.
constexpr int kSleepCalls = 1;

/// How far to look for the next slice, in items.
constexpr int kNearItems = 16;

}  // namespace

/// Finds who is to blame for the part [from, to] of a wait; the result is in blames_. False: it is
/// not known.
bool PathWalker::find_blame(uint32_t thread, uint32_t index, int64_t from, int64_t to) {
  blames_.clear();
  if (stretches_.back().depth < kMaxWakers) {
    wake_up_edges_.blame(thread, index, {from, to, stretches_.back().released}, blames_);
  }
  return std::any_of(blames_.begin(), blames_.end(),
                     [](const Blame& blame) { return blame.thread != kNone; });
}

/// Whether a wait inside an application's lock knows its waker. Changes blames_.
bool PathWalker::has_known_wait_inside(uint32_t thread, uint32_t index, int64_t from) {
  const Thread& history = window_.threads[thread];
  for (uint32_t i = index + 1; history.has_inside(index, i); ++i) {
    const Item& item = history.items[i];
    if (!item.is_wait() || item.end <= from) {
      continue;
    }
    const uint32_t wait = item.what & ~kWaitBit;
    if (history.waits[wait].event != VPROF_EV_WAIT_APP &&
        find_blame(thread, i, item.start, item.end)) {
      return true;
    }
  }
  return false;
}

/// Whether the wait is a slice of a loop that looks at something between one slice and the next: it
/// ends when a time limit has passed, not when what the thread waits for has happened. Sleeps count
/// if there are three of about the same length close together at one place. Who gives way to other
/// threads looks again afterwards.
bool PathWalker::is_polled(uint32_t thread, uint32_t index) const {
  const Thread& history = window_.threads[thread];
  const Item& item = history.items[index];
  const auto event_of = [&](const Item& i) { return history.waits[i.what & ~kWaitBit].event; };
  if (event_of(item) == VPROF_EV_WAIT_COND) {
    const Stretch& stretch = stretches_.back();
    return wake_up_edges_.left_without_signal(thread, item.what & ~kWaitBit, stretch.lo,
                                              stretch.released);
  }
  if (event_of(item) != VPROF_EV_WAIT_TIMER) {
    return event_of(item) == VPROF_EV_WAIT_YIELD;
  }
  const int64_t slice = item.end - item.start;
  int slices = 1;
  const auto count = [&](int step) {
    int64_t near = step > 0 ? item.start : item.end;
    auto at = static_cast<int64_t>(index);
    for (int seen = 0; seen < kNearItems && slices < kPolledSlices; ++seen) {
      at += step;
      if (at < 0 || at >= static_cast<int64_t>(history.items.size())) {
        return;
      }
      const Item& other = history.items[static_cast<size_t>(at)];
      if (!other.is_wait() || event_of(other) != VPROF_EV_WAIT_TIMER ||
          !history.has_same_place(other, item, kSleepCalls)) {
        continue;
      }
      const int64_t length = other.end - other.start;
      const int64_t gap = step > 0 ? near - other.end : other.start - near;
      if (length > 2 * slice || 2 * length < slice || gap > slice) {
        return;
      }
      ++slices;
      near = step > 0 ? other.start : other.end;
    }
  };
  count(1);
  count(-1);
  return slices >= kPolledSlices;
}

/// The events of the waits inside an application's lock that end after `from`.
template <class Visit>
void PathWalker::for_each_wait_inside(uint32_t thread, uint32_t index, int64_t from,
                                      const Visit& visit) const {
  const Thread& history = window_.threads[thread];
  for (uint32_t i = index + 1; history.has_inside(index, i); ++i) {
    const Item& item = history.items[i];
    if (!item.is_wait() || item.end <= from) {
      continue;
    }
    const uint32_t event = history.waits[item.what & ~kWaitBit].event;
    if (event != VPROF_EV_WAIT_APP && event != VPROF_EV_PREEMPTED && event != VPROF_EV_SETUP) {
      visit(i, event);
    }
  }
}

/// Whether a wait without a known waker is usually ended by something that is not recorded. That
/// holds for an application's lock if it holds for all waits inside it.
bool PathWalker::ends_externally(uint32_t thread, uint32_t index, int64_t from) const {
  const Thread& history = window_.threads[thread];
  const uint32_t event = history.waits[history.items[index].what & ~kWaitBit].event;
  if (event != VPROF_EV_WAIT_APP) {
    return is_external(event);
  }
  bool any = false;
  bool all = true;
  for_each_wait_inside(thread, index, from, [&](uint32_t, uint32_t inner) {
    any = true;
    all = all && is_external(inner);
  });
  return any && all;
}

/// Whether the thread gave up because a time limit had passed: in the wait, or in the only wait
/// inside an application's lock.
bool PathWalker::gave_up(uint32_t thread, uint32_t index, int64_t from) const {
  const Thread& history = window_.threads[thread];
  if (history.waits[history.items[index].what & ~kWaitBit].event == VPROF_EV_WAIT_APP) {
    uint32_t waits = 0;
    uint32_t last = kNone;
    for_each_wait_inside(thread, index, from, [&](uint32_t i, uint32_t) {
      ++waits;
      last = i;
    });
    if (waits != 1) {
      return false;
    }
    index = last;
  }
  const uint32_t last = history.last_slice(index, stretches_.back().released);
  return history.waits[history.items[last].what & ~kWaitBit].timed_out && !is_polled(thread, index);
}

/// Since when a thread has been asleep at an instant; that instant if it was awake, or in a call
/// that may hand something over at its end.
int64_t PathWalker::asleep_since(uint32_t thread, int64_t time) const {
  const Thread& history = window_.threads[thread];
  for (uint32_t i = history.item_at(time); i != kNone; i = history.items[i].parent) {
    const Item& item = history.items[i];
    if (!item.is_wait()) {
      break;
    }
    const uint32_t event = history.waits[item.what & ~kWaitBit].event;
    if (event != VPROF_EV_PREEMPTED && event != VPROF_EV_SETUP) {
      return hands_over_at_end(event) ? time : item.start;
    }
  }
  return time;
}

}  // namespace vprof::analyzer
