#include "critical_path/wake_up_edges.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {
namespace {

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
  bool dequeue;  // sorts after an enqueue at the same nanosecond
  uint32_t thread, index;
  auto operator<=>(const TaskRef&) const = default;
};

bool waits_for_conditions(const Thread& thread) {
  return std::any_of(thread.waits.begin(), thread.waits.end(),
                     [](const Wait& wait) { return wait.event == VPROF_EV_WAIT_COND; });
}

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

/// Created-by edges. A dequeue matches the latest earlier enqueue of the task in its process, else
/// in its family of processes (queues in shared memory). Addresses of tasks are reused, so each
/// enqueue matches one dequeue only.
void match_tasks(Window& window) {
  struct Enqueue {
    uint32_t thread;
    int64_t time;
    bool operator==(const Enqueue&) const = default;
  };
  constexpr uint64_t kFamily = 1ull << 63;
  std::unordered_map<TaskKey, Enqueue, TaskHash> pending;
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
    const Enqueue enqueue = found->second;
    event.from_thread = enqueue.thread;
    event.from_time = enqueue.time;
    const TaskKey theirs{event.task, window.threads[enqueue.thread].process};
    for (const TaskKey& key : {theirs, family}) {
      const auto entry = pending.find(key);
      if (entry != pending.end() && entry->second == enqueue) {
        pending.erase(entry);
      }
    }
  }
}

}  // namespace

void WakeUpEdges::build(Window& window) {
  window_ = &window;
  releases_.clear();
  for (const Thread& thread : window.threads) {
    std::copy_if(thread.sync_events.begin(), thread.sync_events.end(),
                 std::back_inserter(releases_),
                 [](const SyncEvent& event) { return !event.acquired; });
  }
  std::sort(releases_.begin(), releases_.end(), [](const SyncEvent& a, const SyncEvent& b) {
    return std::tie(a.object, a.sequence, a.time, a.thread) <
           std::tie(b.object, b.sequence, b.time, b.thread);
  });
  locks_.build(window);
  match_tasks(window);
  match_signals();
}

WakeUpEdges::Candidates WakeUpEdges::candidates(const Wait& wait) const {
  const auto [from, to] =
      std::equal_range(releases_.begin(), releases_.end(), SyncEvent{.object = wait.object},
                       [](const SyncEvent& a, const SyncEvent& b) { return a.object < b.object; });
  // A wait without a sequence number has all releases of the object as candidates; time decides.
  const auto end =
      wait.sequence == 0 ? to : std::partition_point(from, to, [&](const SyncEvent& r) {
        return r.sequence <= wait.sequence;
      });
  return {releases_.data() + (from - releases_.begin()),
          releases_.data() + (end - releases_.begin())};
}

/// A reader wakes up at the first write within its wait. Earlier writes did not make it wait, and
/// later ones found it awake. Exact if there is only one.
std::optional<WakeUp> WakeUpEdges::first_write(uint32_t thread, const Wait& wait, int64_t start,
                                               int64_t end) const {
  const auto [first, last] = candidates(wait);
  if (wait.object.address == 0) {
    return std::nullopt;
  }
  const SyncEvent* at =
      std::partition_point(first, last, [&](const SyncEvent& r) { return r.time < start; });
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

std::vector<WakeUpEdges::Sleeper> WakeUpEdges::sleepers_of(const Window& window) {
  std::vector<Sleeper> all;
  for (uint32_t t = 0; t < window.threads.size(); ++t) {
    const Thread& thread = window.threads[t];
    if (!waits_for_conditions(thread)) {
      continue;
    }
    for (const Item& item : thread.items) {
      if (!item.is_wait()) {
        continue;
      }
      const uint32_t index = item.what & ~kWaitBit;
      const Wait& wait = thread.waits[index];
      if (wait.event != VPROF_EV_WAIT_COND || wait.timed_out) {
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

// Which signal ended which condition wait? A signal wakes one sleeper, and each sleeper that
// returns was woken by one signal. Signals are processed in order of time. Each goes to the sleeper
// that returns first. If any assignment explains all returns, this one does.
//
//   time     ------------------------------------------------>
//   A         [ waits ............................ ] returns         signal 2, exact
//   B             [ waits ........... ] returns                      signal 1, exact: B was back
//   signals                     1           2                        before signal 2
//
// An edge is
//   exact      if nobody else was asleep, or the sleeper returned before the next signal, or the
//              signal was a broadcast;
//   inferred   otherwise: two wake-ups crossed, and either signal may have ended either wait.
//
// A wait that timed out has no waker. A signal ends nothing if all waiters are awake already and
// only wait for the mutex. (Taking the newest signal within the wait would blame whoever signalled
// last.)
void WakeUpEdges::match_signals() {
  matched_signals_.resize(window_->threads.size());
  for (uint32_t t = 0; t < matched_signals_.size(); ++t) {
    matched_signals_[t].assign(window_->threads[t].waits.size(), {});
    find_turns(t);
  }
  const std::vector<Sleeper> sleepers = sleepers_of(*window_);
  for (auto first = sleepers.begin(); first != sleepers.end();) {
    const auto last = std::find_if(first, sleepers.end(), [&](const Sleeper& sleeper) {
      return sleeper.object != first->object;
    });
    match_signals({first, last},
                  candidates({.object = first->object, .event = VPROF_EV_WAIT_COND}));
    first = last;
  }
}

/// Finds the last turn for each condition wait of a thread. The thread has held the mutex since the
/// wait before it if a wait says so.
void WakeUpEdges::find_turns(uint32_t index) {
  const Thread& thread = window_->threads[index];
  if (!waits_for_conditions(thread)) {
    return;
  }
  const Wait* later = nullptr;
  uint32_t last = kNone;
  for (const Item& item : thread.items) {
    if (!item.is_wait()) {
      continue;
    }
    const uint32_t number = item.what & ~kWaitBit;
    const Wait& wait = thread.waits[number];
    if (wait.event != VPROF_EV_WAIT_COND) {
      continue;
    }
    if (later == nullptr || !later->again || later->object != wait.object) {
      last = number;
    }
    matched_signals_[index][number].last_turn = last;
    later = &wait;
  }
}

/// Matches the signals of one condition variable to its waits, which come in order of their start.
void WakeUpEdges::match_signals(std::span<const Sleeper> sleepers, Candidates signals) {
  const auto returns_later = [](const Sleeper* a, const Sleeper* b) {
    return std::tie(a->end, a->thread, a->wait) > std::tie(b->end, b->thread, b->wait);
  };
  std::vector<const Sleeper*> asleep;  // a heap: the one that returns first is on top
  const auto pop = [&]() -> const Sleeper& {
    std::pop_heap(asleep.begin(), asleep.end(), returns_later);
    const Sleeper& first = *asleep.back();
    asleep.pop_back();
    return first;
  };
  size_t next = 0;
  for (const SyncEvent* signal = signals.first; signal != signals.last; ++signal) {
    for (; next < sleepers.size() && sleepers[next].start < signal->time; ++next) {
      asleep.push_back(&sleepers[next]);
      std::push_heap(asleep.begin(), asleep.end(), returns_later);
    }
    while (!asleep.empty() && asleep.front()->end < signal->time) {
      pop();  // returned earlier, without a known signal
    }
    const auto wake = [&](bool exact) {
      const Sleeper& woken = pop();
      MatchedSignal& match = matched_signals_[woken.thread][woken.wait];
      match.thread = signal->thread;
      match.exact = exact;
      match.time = signal->time;
    };
    if (signal->broadcast) {
      while (!asleep.empty()) {
        wake(true);
      }
    } else if (!asleep.empty()) {
      const bool alone = asleep.size() == 1;
      const bool last_chance =
          signal + 1 == signals.last || (signal + 1)->time > asleep.front()->end;
      wake(alone || last_chance);
    }
  }
}

/// The newest release that the wait has seen ended it, if the object numbers its releases.
std::optional<WakeUp> WakeUpEdges::newest_release(uint32_t thread, const Wait& wait, int64_t start,
                                                  int64_t end) const {
  const auto [first, last] = candidates(wait);
  if (wait.sequence == 0 || first == last) {
    return std::nullopt;
  }
  const SyncEvent& release = *(last - 1);
  if (release.thread == thread || release.time < start || release.time > end + kClockSlack) {
    return std::nullopt;
  }
  return WakeUp{release.thread, std::min(release.time, end), true};
}

/// The last release by another thread within the wait. Exact only if it is the only one, except for
/// a join: a thread ends once.
std::optional<WakeUp> WakeUpEdges::last_release(uint32_t thread, const Wait& wait, int64_t start,
                                                int64_t end) const {
  const auto [first, last] = candidates(wait);
  const SyncEvent* at = last;
  if (wait.sequence == 0) {
    at = std::partition_point(first, last, [&](const SyncEvent& r) { return r.time <= end; });
  }
  std::optional<WakeUp> found;
  for (; at != first; --at) {
    const SyncEvent& release = *(at - 1);
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
      break;
    }
  }
  return found;
}

/// What ended a wait that is explained by one release.
std::optional<WakeUp> WakeUpEdges::waker(uint32_t thread, uint32_t index, int64_t start,
                                         int64_t end) const {
  const Wait& wait = window_->threads[thread].waits[index];
  switch (vprof_wait_ended_by(wait.event)) {
    case VPROF_ENDED_BY_FIRST:
      return first_write(thread, wait, start, end);
    case VPROF_ENDED_BY_LAST:
      return last_release(thread, wait, start, end);
    case VPROF_ENDED_BY_NEWEST:
      return newest_release(thread, wait, start, end);
    default:
      return std::nullopt;
  }
}

bool WakeUpEdges::left_without_signal(uint32_t thread, uint32_t index) const {
  const std::vector<Wait>& waits = window_->threads[thread].waits;
  const uint32_t last = matched_signals_[thread][index].last_turn;
  return waits[last].timed_out && (last != index || waits[index].again);
}

/// A condition wait: the signaller until the signal, from then on whoever held the mutex that the
/// waiter wanted back. Waits in turns of one loop are one wait: what ended it is the signal after
/// which the loop was left, and the earlier ones changed nothing.
void WakeUpEdges::blame_signaller(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  const Thread& history = window_->threads[wait.thread];
  const auto index = static_cast<uint32_t>(&wait.wait - history.waits.data());
  const uint32_t last = matched_signals_[wait.thread][index].last_turn;
  const MatchedSignal& signal = matched_signals_[wait.thread][last];
  if (signal.thread == kNone || signal.thread == wait.thread) {
    return;
  }
  const int64_t until = std::min({signal.time, wait.to, wait.end - 1});
  if (wait.from < until) {
    blames.push_back({signal.thread, wait.from, until, signal.exact});
  }
  if (last == index && wait.wait.mutex != 0) {
    const Process& process = window_->processes[history.process];
    const ObjectKey mutex{object_scope(process, history.process, wait.wait.mutex_shared),
                          wait.wait.mutex, VPROF_EV_RELEASE_MUTEX};
    locks_.blame_holders_of_mutex(wait, mutex, std::max(wait.from, signal.time), blames);
  }
  if (blames.empty()) {  // nobody held the mutex in this part of the wait
    blames.push_back({signal.thread, wait.to, wait.to, signal.exact});
  }
}

/// Whoever ended the wait is to blame for all of it.
void WakeUpEdges::blame_releasers(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  const auto index = static_cast<uint32_t>(&wait.wait - window_->threads[wait.thread].waits.data());
  const std::optional<WakeUp> found = waker(wait.thread, index, wait.start, wait.end);
  // Whoever ends a wait is not waiting itself at that time. So if only a part of the wait is on the
  // path, a release after that part contradicts the waker.
  if (!found || (found->time >= wait.to && wait.end > wait.to)) {
    return;
  }
  const int64_t until = std::min(found->time, wait.to - 1);
  blames.push_back({found->thread, wait.from, std::max(wait.from, until), found->exact});
}

void WakeUpEdges::blame(uint32_t thread, uint32_t item, int64_t from, int64_t to,
                        std::vector<Blame>& blames) const {
  const Thread& history = window_->threads[thread];
  const Item& at = history.items[item];
  const Wait& wait = history.waits[at.what & ~kWaitBit];
  const WaitOnObject on{wait, thread, at.start, at.end, from, to};
  const enum vprof_ended_by ended_by = vprof_wait_ended_by(wait.event);
  if (ended_by == VPROF_ENDED_BY_SIGNAL) {
    blame_signaller(on, blames);
  } else if (wait.timed_out) {
    return;
  } else if (ended_by == VPROF_ENDED_BY_HOLDER) {
    locks_.blame_holders(on, blames);
  } else if (ended_by == VPROF_ENDED_BY_POST) {
    locks_.blame_posters(on, blames);
  } else {
    blame_releasers(on, blames);
  }
}

}  // namespace vprof::analyzer
