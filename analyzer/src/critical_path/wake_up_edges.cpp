#include "critical_path/wake_up_edges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

constexpr int64_t kClockSlack =
    1'000'000;  // ns that a release may seem to come after the wait that it ended

struct TaskKey {
  uint64_t task, scope;
  bool operator==(const TaskKey&) const = default;
};

struct TaskHash {
  size_t operator()(const TaskKey& key) const {
    const uint64_t h = (key.task ^ (key.scope * 0x94d049bb133111ebull)) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(h ^ (h >> 32));
  }
};

struct TaskRef {
  int64_t time;
  bool dequeue;  // an enqueue of the same nanosecond comes first
  uint32_t thread, index;
  auto operator<=>(const TaskRef&) const = default;
};

std::vector<TaskRef> tasks_in_order(const Window& window) {
  std::vector<TaskRef> refs;
  for (uint32_t t = 0; t < window.threads.size(); ++t) {
    const Thread& thread = window.threads[t];
    for (uint32_t i = 0; i < thread.enqueues.size(); ++i) {
      refs.push_back({thread.enqueues[i].time, false, t, i});
    }
    for (uint32_t i = 0; i < thread.dequeues.size(); ++i) {
      refs.push_back({thread.dequeues[i].time, true, t, i});
    }
  }
  std::sort(refs.begin(), refs.end());
  return refs;
}

/// A task is taken once: its latest enqueue before the dequeue, in the same process, else in its
/// family (queues in shared memory). Addresses are used again, so an enqueue that was taken is not
/// a candidate for a later dequeue.
void match_tasks(Window& window) {
  struct Origin {
    uint32_t thread;
    int64_t time;
    bool operator==(const Origin&) const = default;
  };
  constexpr uint64_t kFamily = 1ull << 63;
  std::unordered_map<TaskKey, Origin, TaskHash> pending;
  for (const TaskRef& ref : tasks_in_order(window)) {
    Thread& thread = window.threads[ref.thread];
    TaskEvent& event = ref.dequeue ? thread.dequeues[ref.index] : thread.enqueues[ref.index];
    const TaskKey mine{event.task, thread.process};
    const TaskKey family{event.task, window.processes[thread.process].family | kFamily};
    if (!ref.dequeue) {
      pending[mine] = pending[family] = {ref.thread, ref.time};
      continue;
    }
    auto found = pending.find(mine);
    if (found == pending.end()) {
      found = pending.find(family);
    }
    if (found == pending.end()) {
      continue;
    }
    const Origin origin = found->second;
    event.from_thread = origin.thread;
    event.from_time = origin.time;
    const TaskKey theirs{event.task, window.threads[origin.thread].process};
    for (const TaskKey& key : {theirs, family}) {
      const auto entry = pending.find(key);
      if (entry != pending.end() && entry->second == origin) {
        pending.erase(entry);
      }
    }
  }
}

}  // namespace

void Links::build(Window& window) {
  window_ = &window;
  releases_.clear();
  for (const Thread& thread : window.threads) {
    releases_.insert(releases_.end(), thread.releases.begin(), thread.releases.end());
  }
  std::sort(releases_.begin(), releases_.end(), [](const Release& a, const Release& b) {
    return std::tie(a.object, a.sequence, a.time, a.thread) <
           std::tie(b.object, b.sequence, b.time, b.thread);
  });
  match_tasks(window);
  give_out_signals();
}

Links::Candidates Links::candidates(const Wait& wait) const {
  const auto [from, to] =
      std::equal_range(releases_.begin(), releases_.end(), Release{wait.object, 0, 0, 0, false},
                       [](const Release& a, const Release& b) { return a.object < b.object; });
  // Without a sequence all releases of the object are candidates, and time decides.
  const auto end = wait.sequence == 0 ? to : std::partition_point(from, to, [&](const Release& r) {
    return r.sequence <= wait.sequence;
  });
  return {releases_.data() + (from - releases_.begin()),
          releases_.data() + (end - releases_.begin())};
}

/// Who reads goes on at the first bytes that come while it waits. What came before it began did not
/// make it wait, and what comes until it runs again ended nothing. Certain if there was no other.
std::optional<WakeUp> Links::first_write(uint32_t thread, const Wait& wait, int64_t start,
                                         int64_t end) const {
  const auto [first, last] = candidates(wait);
  if (wait.object.address == 0) {
    return std::nullopt;
  }
  const Release* at =
      std::partition_point(first, last, [&](const Release& r) { return r.time < start; });
  std::optional<WakeUp> found;
  for (; at != last && at->time <= end; ++at) {
    if (at->thread == thread) {
      continue;
    }
    if (found) {
      found->exact = false;
      break;
    }
    found = WakeUp{at->thread, at->time, true};
  }
  return found;
}

namespace {

/// A condition wait while signals are given out.
struct Sleeper {
  ObjectKey object;
  int64_t start, end;
  uint64_t sequence;
  uint32_t thread, wait;
};

std::vector<Sleeper> sleepers_of(const Window& window) {
  std::vector<Sleeper> all;
  for (uint32_t t = 0; t < window.threads.size(); ++t) {
    const Thread& thread = window.threads[t];
    const auto is_cond = [](const Wait& wait) { return wait.event == VPROF_EV_WAIT_COND; };
    if (std::none_of(thread.waits.begin(), thread.waits.end(), is_cond)) {
      continue;
    }
    for (const Item& item : thread.items) {
      if (!item.is_wait()) {
        continue;
      }
      const uint32_t index = item.what & ~kWaitBit;
      const Wait& wait = thread.waits[index];
      if (!is_cond(wait) || wait.timed_out) {
        continue;
      }
      all.push_back({wait.object, item.start, item.end, wait.sequence, t, index});
    }
  }
  std::sort(all.begin(), all.end(), [](const Sleeper& a, const Sleeper& b) {
    return std::tie(a.object, a.start, a.end, a.thread) <
           std::tie(b.object, b.start, b.end, b.thread);
  });
  return all;
}

}  // namespace

// Which signal ended which wait? A signal wakes one of those asleep, and each that returns was
// woken by one. Signals are gone through in order of time, each is given to the sleeper that
// returns first: if any assignment explains all returns, this one does. It is
//
//   exact     if nobody else was asleep, or the sleeper returned before there was another signal,
//   or
//             the signal was a broadcast;
//   inferred  else: two wake-ups crossed, and either may have been of either.
//
// Whose time was over was woken by nobody. A signal while all who wait have been woken already
// (they wait for the mutex) ended nothing: taking the newest signal within the wait would blame
// whoever signalled last.
void Links::give_out_signals() {
  signalled_.resize(window_->threads.size());
  for (size_t t = 0; t < signalled_.size(); ++t) {
    signalled_[t].assign(window_->threads[t].waits.size(), {});
  }
  const std::vector<Sleeper> sleepers = sleepers_of(*window_);
  const auto returns_later = [&](const Sleeper* a, const Sleeper* b) {
    return std::tie(a->end, a->thread, a->wait) > std::tie(b->end, b->thread, b->wait);
  };
  std::vector<const Sleeper*> asleep;  // a heap: who returns first on top
  for (size_t at = 0; at < sleepers.size();) {
    const ObjectKey object = sleepers[at].object;
    const auto [first, last] = candidates({object, 0, VPROF_EV_WAIT_COND, 0, false});
    asleep.clear();
    for (const Release* signal = first; signal != last; ++signal) {
      for (; at < sleepers.size() && sleepers[at].object == object &&
             sleepers[at].start < signal->time;
           ++at) {
        asleep.push_back(&sleepers[at]);
        std::push_heap(asleep.begin(), asleep.end(), returns_later);
      }
      const auto wake = [&](bool exact) {
        std::pop_heap(asleep.begin(), asleep.end(), returns_later);
        const Sleeper& woken = *asleep.back();
        asleep.pop_back();
        signalled_[woken.thread][woken.wait] = {signal->thread, exact, signal->time};
      };
      const auto gone = [&] {  // returned before, without a signal that is known
        return !asleep.empty() && asleep.front()->end < signal->time;
      };
      while (gone()) {
        std::pop_heap(asleep.begin(), asleep.end(), returns_later);
        asleep.pop_back();
      }
      if (signal->broadcast) {
        while (!asleep.empty()) {
          wake(true);
        }
      } else if (!asleep.empty()) {
        const bool alone = asleep.size() == 1;
        const bool last_chance = signal + 1 == last || (signal + 1)->time > asleep.front()->end;
        wake(alone || last_chance);
      }
    }
    while (at < sleepers.size() && sleepers[at].object == object) {
      ++at;
    }
  }
}

std::optional<WakeUp> Links::waker(uint32_t thread, uint32_t index, int64_t start,
                                   int64_t end) const {
  const Wait& wait = window_->threads[thread].waits[index];
  if (wait.timed_out) {
    return std::nullopt;
  }
  if (wait.event == VPROF_EV_WAIT_COND) {
    const Signalled& signal = signalled_[thread][index];
    if (signal.thread == kNone || signal.thread == thread || signal.time < start) {
      return std::nullopt;
    }
    return WakeUp{signal.thread, signal.time, signal.exact};
  }
  const auto [first, last] = candidates(wait);
  if (wait.event == VPROF_EV_WAIT_STREAM || wait.event == VPROF_EV_WAIT_POLL) {
    return first_write(thread, wait, start, end);
  }
  const bool by_time = wait.event == VPROF_EV_WAIT_APP || wait.event == VPROF_EV_WAIT_JOIN;
  const bool may_be_anothers =
      wait.event == VPROF_EV_WAIT_FUTEX || wait.event == VPROF_EV_WAIT_SYSV ||
      wait.event == VPROF_EV_WAIT_QUEUE || wait.event == VPROF_EV_WAIT_SIGNAL ||
      wait.event == VPROF_EV_WAIT_ONCE;
  if (!by_time && !may_be_anothers) {
    // The newest release that the wait has seen is the one that ended it, if there is such a number
    // at all.
    if (wait.sequence == 0 || first == last) {
      return std::nullopt;
    }
    const Release& release = *(last - 1);
    if (release.thread == thread || release.time < start || release.time > end + kClockSlack) {
      return std::nullopt;
    }
    return WakeUp{release.thread, std::min(release.time, end), true};
  }
  // An application's release has no number: of those within the wait the last one is taken, and it
  // is certain only if it is the only one.
  const Release* at = last;
  if (wait.sequence == 0) {
    at = std::partition_point(first, last, [&](const Release& r) { return r.time <= end; });
  }
  std::optional<WakeUp> found;
  for (; at != first; --at) {
    const Release& release = *(at - 1);
    if (release.time < start) {
      break;
    }
    if (release.thread == thread || release.time > end) {
      continue;
    }
    if (found) {
      found->exact = false;
      break;
    }
    found = WakeUp{release.thread, release.time, true};
    if (wait.event == VPROF_EV_WAIT_JOIN) {
      break;  // a thread ends once
    }
  }
  return found;
}

}  // namespace vprof::analyzer
