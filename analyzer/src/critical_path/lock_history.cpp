#include "critical_path/lock_history.h"

#include <algorithm>
#include <tuple>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

/// Between the failed attempt and the begin of the wait, the holder may change unseen, ns. A longer
/// gap before the first known holder means that a holder was not recorded.
constexpr int64_t kUnexplained = 2'000;

/// A thread rarely holds a lock more often than this at a time (recursive locks).
constexpr size_t kMaxOpenHolds = 64;

bool is_lock(uint32_t kind) {
  return kind == VPROF_EV_RELEASE_MUTEX || kind == VPROF_EV_RELEASE_RWLOCK ||
         kind == VPROF_EV_RELEASE_SPIN;
}

bool is_exclusive(uint32_t kind) { return kind != VPROF_EV_RELEASE_RWLOCK; }

}  // namespace

void LockHistory::build(const Window& window) {
  holds_.clear();
  semaphores_.clear();
  for (uint32_t t = 0; t < window.threads.size(); ++t) {
    add_holds(window.threads[t], t);
  }
  end_unreleased_holds();
  const auto released_earlier = [](const Hold& a, const Hold& b) {
    return std::tie(a.object, a.released, a.acquired, a.thread) <
           std::tie(b.object, b.released, b.acquired, b.thread);
  };
  // Mutexes are released in the order in which they are acquired.
  if (!std::is_sorted(holds_.begin(), holds_.end(), released_earlier)) {
    std::sort(holds_.begin(), holds_.end(), released_earlier);
  }
  std::stable_sort(semaphores_.begin(), semaphores_.end(),
                   [](const SyncEvent& a, const SyncEvent& b) {
                     return std::tie(a.object, a.time, a.acquired, a.sequence) <
                            std::tie(b.object, b.time, b.acquired, b.sequence);
                   });
}

/// Pairs each release of a thread with the latest acquisition before it, as locks nest.
void LockHistory::add_holds(const Thread& thread, uint32_t index) {
  std::vector<Hold> open;
  for (const SyncEvent& event : thread.sync_events) {
    if (event.object.kind == VPROF_EV_RELEASE_SEM) {
      semaphores_.push_back(event);
      continue;
    }
    if (!is_lock(event.object.kind)) {
      continue;
    }
    if (event.acquired) {
      if (open.size() == kMaxOpenHolds) {
        holds_.push_back(open.front());
        open.erase(open.begin());
      }
      open.push_back({event.object, INT64_MAX, event.time, 0, index, event.for_reading, false});
      continue;
    }
    const auto found = std::find_if(open.rbegin(), open.rend(),
                                    [&](const Hold& hold) { return hold.object == event.object; });
    Hold hold{event.object, event.time, kUnseen, event.sequence, index, false, true};
    if (found != open.rend()) {
      hold.acquired = found->acquired;
      hold.shared = found->shared;
      open.erase(std::next(found).base());
    }
    holds_.push_back(hold);
  }
  holds_.insert(holds_.end(), open.begin(), open.end());
}

/// A release that nobody waited for is not recorded. Where somebody else has the lock next, it was
/// released before that.
void LockHistory::end_unreleased_holds() {
  std::sort(holds_.begin(), holds_.end(), [](const Hold& a, const Hold& b) {
    return std::tie(a.object, a.acquired, a.released, a.thread) <
           std::tie(b.object, b.acquired, b.released, b.thread);
  });
  for (size_t i = 0; i + 1 < holds_.size(); ++i) {
    const Hold& next = holds_[i + 1];
    if (holds_[i].released == INT64_MAX && next.object == holds_[i].object &&
        is_exclusive(next.object.kind)) {
      holds_[i].released = next.acquired;
    }
  }
  std::erase_if(holds_, [](const Hold& hold) { return hold.released == INT64_MAX; });
}

/// The holds that kept the waiter waiting from `from` on, clipped to the wait, in order of release.
std::vector<LockHistory::Part> LockHistory::parts_of(const WaitOnObject& wait,
                                                     const ObjectKey& object, int64_t from) const {
  std::vector<Part> parts;
  const bool exclusive = is_exclusive(object.kind);
  const uint64_t seen = object == wait.wait.object ? wait.wait.sequence : 0;
  const int64_t last = std::min(wait.to, wait.slice_end - 1);
  int64_t free_since = from;  // when the lock was last known to be released
  auto hold = std::partition_point(holds_.begin(), holds_.end(), [&](const Hold& h) {
    return std::tie(h.object, h.released) <= std::tie(object, from);
  });
  for (; hold != holds_.end() && hold->object == object; ++hold) {
    if (hold->released > wait.end + kClockSlack) {
      break;
    }
    // A later hold, or one that the waiter could share, did not keep it waiting.
    const bool over = hold->released <= wait.end || (hold->sequence != 0 && hold->sequence <= seen);
    const bool came_later = wait.wait.event == VPROF_EV_WAIT_RDLOCK && hold->shared &&
                            hold->acquired != kUnseen && hold->acquired > wait.start;
    // A release within the wait would have been recorded, so it was before.
    const bool over_before = !hold->exact && hold->acquired <= wait.start;
    if (!over || came_later || over_before || hold->thread == wait.thread ||
        hold->acquired > last) {
      continue;
    }
    int64_t since = std::max(hold->acquired, from);
    bool exact = hold->exact;
    if (exclusive && since < free_since) {
      exact = exact && hold->acquired != kUnseen;
      since = free_since;
    }
    const int64_t until = std::min(hold->released, last);
    free_since = std::max(free_since, until);
    if (since < until) {
      parts.push_back({since, until, hold->thread, exact, hold->released});
    }
  }
  return parts;
}

/// Divides the time among the holders: what several held at once, into equal pieces in the order in
/// which they got it. A hold within another one explains nothing: without it, the wait would have
/// been as long.
void LockHistory::tile(std::vector<Part>& parts, std::vector<Blame>& blames) {
  std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return std::tie(a.from, b.to, a.thread) < std::tie(b.from, a.to, b.thread);
  });
  size_t kept = 0;
  for (const Part& part : parts) {
    const bool same = kept != 0 && part.from == parts[kept - 1].from &&
                      part.to == parts[kept - 1].to && part.thread != parts[kept - 1].thread;
    if (kept == 0 || part.to > parts[kept - 1].to || same) {
      parts[kept++] = part;
    }
  }
  parts.resize(kept);
  // Now neither end falls from part to part.
  size_t first = 0;
  int64_t now = INT64_MIN;
  for (size_t next = 0; first < parts.size();) {
    now = std::max(now, parts[first].from);
    while (next < parts.size() && parts[next].from <= now) {
      ++next;
    }
    const int64_t until =
        next < parts.size() ? std::min(parts[first].to, parts[next].from) : parts[first].to;
    const auto holders = static_cast<int64_t>(next - first);
    for (int64_t i = 0; i < holders; ++i) {
      const Part& part = parts[first + static_cast<size_t>(i)];
      const int64_t from = now + (until - now) * i / holders;
      const int64_t to = now + (until - now) * (i + 1) / holders;
      if (from == to) {
        continue;
      }
      Blame* const last = blames.empty() ? nullptr : &blames.back();
      if (last != nullptr && last->thread == part.thread && last->released == part.released &&
          last->to == from) {
        last->to = to;
        last->exact = last->exact && part.exact;
      } else {
        blames.push_back({part.thread, from, to, part.exact, part.released});
      }
    }
    now = until;
    while (first < parts.size() && parts[first].to <= now) {
      ++first;
    }
  }
}

void LockHistory::blame_holders(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  // What several held at once is divided for the whole wait, whatever part of it is asked for.
  WaitOnObject whole = wait;
  if (!is_exclusive(wait.wait.object.kind)) {
    whole.from = wait.start;
    whole.to = whole.slice_end = wait.end;
  }
  std::vector<Part> parts = parts_of(whole, wait.wait.object, whole.from);
  int64_t begin = INT64_MAX;
  for (const Part& part : parts) {
    begin = std::min(begin, part.from);
  }
  if (!parts.empty() && begin - whole.from > kUnexplained && whole.from == wait.start) {
    blames.push_back({kNone, whole.from, begin, false, begin});
  }
  tile(parts, blames);
  clip(blames, wait.from, std::min(wait.to, wait.slice_end - 1));
  if (blames.empty()) {
    add_last_holder(wait, blames);
  }
}

/// Keeps what lies within [from, to].
void LockHistory::clip(std::vector<Blame>& blames, int64_t from, int64_t to) {
  std::erase_if(blames, [&](Blame& blame) {
    blame.from = std::max(blame.from, from);
    blame.to = std::min(blame.to, to);
    return blame.from >= blame.to;
  });
}

/// If the lock was released shortly before this part of the wait, or later, then it was free
/// meanwhile: the one who held it is to blame for none of it.
void LockHistory::add_last_holder(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  const ObjectKey& object = wait.wait.object;
  const auto hold = std::partition_point(holds_.begin(), holds_.end(), [&](const Hold& h) {
    return h.object < object || (h.object == object && h.released < wait.start - kUnexplained);
  });
  if (hold != holds_.end() && hold->object == object && hold->released <= wait.end) {
    blames.push_back({hold->thread, wait.to, wait.to, hold->exact, wait.to});
  }
}

void LockHistory::blame_holders_of_mutex(const WaitOnObject& wait, const ObjectKey& mutex,
                                         int64_t from, std::vector<Blame>& blames) const {
  std::vector<Part> parts = parts_of(wait, mutex, from);
  tile(parts, blames);
}

void LockHistory::blame_posters(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  const auto [first, last] = std::equal_range(
      semaphores_.begin(), semaphores_.end(), SyncEvent{.object = wait.wait.object},
      [](const SyncEvent& a, const SyncEvent& b) { return a.object < b.object; });
  auto event =
      std::partition_point(first, last, [&](const SyncEvent& e) { return e.time < wait.start; });
  const auto first_post = std::find_if(event, last, [](const SyncEvent& e) { return !e.acquired; });
  int64_t count = 0;  // the attempt failed
  int64_t since = wait.start;
  bool exact = true;
  const int64_t end = std::min(wait.to, wait.slice_end - 1);
  for (; event != last && event->time <= wait.end && since < end; ++event) {
    if (event->thread == wait.thread) {
      continue;
    }
    if (event->acquired) {
      // When another waiter took it is known only by when it ran again.
      exact = exact && !event->after_wait;
      count = std::max<int64_t>(count - 1, 0);
      since = count == 0 ? event->time : since;
      continue;
    }
    if (++count == 1) {
      const int64_t from = std::max(since, wait.from);
      const int64_t until = std::min(event->time, end);
      if (from < until) {
        blames.push_back({event->thread, from, until, exact, event->time});
      }
    }
  }
  // It could have gone on, so nobody is to blame.
  if (blames.empty() && first_post != last && first_post->time <= wait.end) {
    blames.push_back({first_post->thread, wait.to, wait.to, exact, wait.to});
  }
}

}  // namespace vprof::analyzer
