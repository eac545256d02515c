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
  condition_waits_.build(window, releases_);
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
std::optional<WakeUp> WakeUpEdges::waker(uint32_t thread, const Wait& wait, int64_t start,
                                         int64_t end) const {
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

/// A condition wait: the signaller until the signal, from then on whoever held the mutex that the
/// waiter wanted back. Waits in turns of one loop are one wait: what ended it is the signal after
/// which the loop was left, and the earlier ones changed nothing.
void WakeUpEdges::blame_signaller(const WaitOnObject& wait, int64_t before,
                                  std::vector<Blame>& blames) const {
  const Thread& history = window_->threads[wait.thread];
  const auto index = static_cast<uint32_t>(&wait.wait - history.waits.data());
  const uint32_t last_turn = condition_waits_.last_turn(wait.thread, index, before);
  const MatchedSignal& signal = condition_waits_.signal_of(wait.thread, last_turn);
  if (signal.thread == kNone || signal.thread == wait.thread) {
    return;
  }
  const int64_t until = std::min({signal.time, wait.to, wait.end - 1});
  if (wait.from < until) {
    blames.push_back({signal.thread, wait.from, until, signal.exact, signal.time});
  }
  if (last_turn == index && wait.wait.mutex != 0) {
    const Process& process = window_->processes[history.process];
    const ObjectKey mutex{object_scope(process, history.process, wait.wait.mutex_shared),
                          wait.wait.mutex, VPROF_EV_RELEASE_MUTEX};
    locks_.blame_holders_of_mutex(wait, mutex, std::max(wait.from, signal.time), blames);
  }
  if (blames.empty()) {  // nobody held the mutex in this part of the wait
    blames.push_back({signal.thread, wait.to, wait.to, signal.exact, wait.to});
  }
}

/// Whoever ended the wait is to blame for all of it.
void WakeUpEdges::blame_releasers(const WaitOnObject& wait, std::vector<Blame>& blames) const {
  const std::optional<WakeUp> found = waker(wait.thread, wait.wait, wait.start, wait.end);
  // Whoever ends a wait is not waiting itself at that time. So if only a part of the wait is on the
  // path, a release after that part contradicts the waker.
  if (!found || (found->time >= wait.to && wait.slice_end > wait.to)) {
    return;
  }
  const int64_t until = std::min(found->time, wait.to - 1);
  blames.push_back(
      {found->thread, wait.from, std::max(wait.from, until), found->exact, found->time});
}

void WakeUpEdges::blame(uint32_t thread, uint32_t item, Part part,
                        std::vector<Blame>& blames) const {
  const Thread& history = window_->threads[thread];
  const Item& at = history.items[item];
  const Wait& wait = history.waits[at.what & ~kWaitBit];
  if (vprof_wait_ended_by(wait.event) == VPROF_ENDED_BY_SIGNAL) {
    blame_signaller({wait, thread, at.start, at.end, at.end, part.from, part.to}, part.released,
                    blames);
    return;
  }
  // Nobody ended a wait that timed out. If it was made again at once, what ended the last of them
  // ended them all.
  const Item& last = history.items[history.last_slice(item, part.released)];
  const Wait& ended = history.waits[last.what & ~kWaitBit];
  if (ended.timed_out) {
    return;
  }
  const enum vprof_ended_by ended_by = vprof_wait_ended_by(ended.event);
  const WaitOnObject on{ended, thread, at.start, last.end, at.end, part.from, part.to};
  if (ended_by == VPROF_ENDED_BY_HOLDER) {
    locks_.blame_holders(on, blames);
  } else if (ended_by == VPROF_ENDED_BY_POST) {
    locks_.blame_posters(on, blames);
  } else {
    blame_releasers(on, blames);
  }
  if (&last != &at) {  // nothing is known of what happened between the slices
    for (Blame& blame : blames) {
      blame.exact = false;
    }
  }
}

}  // namespace vprof::analyzer
