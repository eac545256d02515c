#include "links.h"

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

std::vector<TaskRef> tasks_in_order(const Recording& recording) {
  std::vector<TaskRef> refs;
  for (uint32_t t = 0; t < recording.threads.size(); ++t) {
    const Thread& thread = recording.threads[t];
    for (uint32_t i = 0; i < thread.enqueues.size(); ++i)
      refs.push_back({thread.enqueues[i].time, false, t, i});
    for (uint32_t i = 0; i < thread.dequeues.size(); ++i)
      refs.push_back({thread.dequeues[i].time, true, t, i});
  }
  std::sort(refs.begin(), refs.end());
  return refs;
}

/// A task is taken once: its latest enqueue before the dequeue, in the same process, else in its
/// family (queues in shared memory). Addresses are used again, so an enqueue that was taken is not
/// a candidate for a later dequeue.
void match_tasks(Recording& recording) {
  struct Origin {
    uint32_t thread;
    int64_t time;
    bool operator==(const Origin&) const = default;
  };
  constexpr uint64_t kFamily = 1ull << 63;
  std::unordered_map<TaskKey, Origin, TaskHash> pending;
  for (const TaskRef& ref : tasks_in_order(recording)) {
    Thread& thread = recording.threads[ref.thread];
    TaskEvent& event = ref.dequeue ? thread.dequeues[ref.index] : thread.enqueues[ref.index];
    const TaskKey mine{event.task, thread.process};
    const TaskKey family{event.task, recording.processes[thread.process].family | kFamily};
    if (!ref.dequeue) {
      pending[mine] = pending[family] = {ref.thread, ref.time};
      continue;
    }
    auto found = pending.find(mine);
    if (found == pending.end()) found = pending.find(family);
    if (found == pending.end()) continue;
    const Origin origin = found->second;
    event.from_thread = origin.thread;
    event.from_time = origin.time;
    const TaskKey theirs{event.task, recording.threads[origin.thread].process};
    for (const TaskKey& key : {theirs, family}) {
      const auto entry = pending.find(key);
      if (entry != pending.end() && entry->second == origin) pending.erase(entry);
    }
  }
}

}  // namespace

struct Links::Candidates {
  const Release* first;
  const Release* last;  // one past the newest release that the wait can have seen
};

Links::Links(Recording& recording) {
  size_t total = 0;
  for (const Thread& thread : recording.threads) total += thread.releases.size();
  releases_.reserve(total);
  for (Thread& thread : recording.threads) {
    releases_.insert(releases_.end(), thread.releases.begin(), thread.releases.end());
    thread.releases = {};
  }
  std::sort(releases_.begin(), releases_.end(), [](const Release& a, const Release& b) {
    return std::tie(a.object, a.sequence, a.time, a.thread) <
           std::tie(b.object, b.sequence, b.time, b.thread);
  });
  match_tasks(recording);
}

Links::Candidates Links::candidates(const Wait& wait) const {
  const auto [from, to] =
      std::equal_range(releases_.begin(), releases_.end(), Release{wait.object, 0, 0, 0},
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
  if (wait.object.address == 0) return std::nullopt;
  const Release* at =
      std::partition_point(first, last, [&](const Release& r) { return r.time < start; });
  std::optional<WakeUp> found;
  for (; at != last && at->time <= end; ++at) {
    if (at->thread == thread) continue;
    if (found) {
      found->exact = false;
      break;
    }
    found = WakeUp{at->thread, at->time, true};
  }
  return found;
}

std::optional<WakeUp> Links::waker(uint32_t thread, const Wait& wait, int64_t start,
                                   int64_t end) const {
  const auto [first, last] = candidates(wait);
  const bool by_time = wait.event == VPROF_EV_WAIT_APP || wait.event == VPROF_EV_WAIT_JOIN;
  if (wait.event == VPROF_EV_WAIT_STREAM || wait.event == VPROF_EV_WAIT_POLL)
    return first_write(thread, wait, start, end);
  const bool may_be_anothers =
      wait.event == VPROF_EV_WAIT_COND || wait.event == VPROF_EV_WAIT_FUTEX ||
      wait.event == VPROF_EV_WAIT_SYSV || wait.event == VPROF_EV_WAIT_QUEUE ||
      wait.event == VPROF_EV_WAIT_SIGNAL || wait.event == VPROF_EV_WAIT_ONCE;
  if (!by_time && !may_be_anothers) {
    // The newest release that the wait has seen is the one that ended it, if there is such a number
    // at all.
    if (wait.sequence == 0 || first == last) return std::nullopt;
    const Release& release = *(last - 1);
    if (release.thread == thread || release.time < start || release.time > end + kClockSlack)
      return std::nullopt;
    return WakeUp{release.thread, std::min(release.time, end), true};
  }
  // A signal may have gone to another waiter, and an application's release has no number: of those
  // within the wait the last one is taken, and it is certain only if it is the only one. Numbers of
  // one object grow with time, so both are ordered.
  const Release* at = last;
  if (wait.sequence == 0) {
    at = std::partition_point(first, last, [&](const Release& r) { return r.time <= end; });
  }
  std::optional<WakeUp> found;
  for (; at != first; --at) {
    const Release& release = *(at - 1);
    if (release.time < start) break;
    if (release.thread == thread || release.time > end) continue;
    if (found) {
      found->exact = false;
      break;
    }
    found = WakeUp{release.thread, release.time, true};
    if (wait.event == VPROF_EV_WAIT_JOIN) break;  // a thread ends once
  }
  return found;
}

}  // namespace vprof::analyzer
