// What is held of a recording at one time: a window of the history of each thread, frames and waits
// as one forest, events beside it.
//
// Frames and waits stand in one array in order of their end (post-order of the nesting), which is
// the order in which they were written. The children of item i are found by walking down from i -
// 1; j < i lies within i if and only if parent[j] <= i. The critical path is walked back in time,
// so this is also the order in which it is read.
//
//   time ──────────▶        items: B  C  A  E  D       parent: 2 2 - 4 -
//   [A [B] [C]] [D [E]]
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sites.h"
#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

inline constexpr uint32_t kWaitBit = 1u << 31;

struct Item {
  int64_t start = 0;  ///< ns
  int64_t end = 0;    ///< ns
  uint32_t what = 0;  ///< a site, or kWaitBit | index into Thread::waits
  uint32_t parent = kNone;

  bool is_wait() const { return (what & kWaitBit) != 0; }
};
static_assert(sizeof(Item) == 24);

/// What is waited on or released. Objects in shared memory are known to the whole family of
/// processes.
struct ObjectKey {
  uint64_t scope = 0;    ///< the process, or the family of processes
  uint64_t address = 0;  ///< also a pthread_t, or an application's own value
  uint32_t kind = 0;     ///< id of the release event that ends such a wait
  auto operator<=>(const ObjectKey&) const = default;
};

struct Wait {
  ObjectKey object;
  uint64_t sequence = 0;
  uint32_t event =
      0;  ///< VPROF_EV_WAIT_*, or VPROF_EV_PREEMPTED, which is no wait but lies like one
  uint32_t sync = 0;       ///< of WAIT_APP: index in sites.json
  bool timed_out = false;  ///< nobody ended it
};

struct Release {
  ObjectKey object;
  uint64_t sequence = 0;
  int64_t time = 0;
  uint32_t thread = 0;
  bool broadcast = false;
};

/// BEGIN, END, SWITCH, LABEL or WORK.
struct Mark {
  int64_t time = 0;
  uint64_t id = 0;
  uint64_t scope = 0;  ///< 0, or 1 + the process where ids are known inside one process only
  uint32_t event = 0;
  uint32_t index = 0;  ///< kind of interval; of LABEL: index into Thread::labels
  uint64_t units = 0;  ///< of WORK
};

struct TaskEvent {
  int64_t time = 0;
  uint64_t task = 0;
  uint32_t sync = 0;
  // Of a dequeue, once links are made: who enqueued the task, and when. kNone: not known.
  uint32_t from_thread = kNone;
  int64_t from_time = 0;
};

/// A stretch in which a thread had no processor; recorded by the helper thread, for another one.
struct Preemption {
  uint32_t serial = 0;  ///< of the thread, in the same process
  int64_t start = 0;
  int64_t end = 0;
};

/// A stretch in which the thread worked for one interval.
struct Segment {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t interval = 0;  ///< Interval::serial
};

/// Each in cache lines of its own: they are filled side by side.
struct alignas(128) Thread {
  uint32_t process = 0;
  uint32_t serial = 0;
  std::string name;
  std::vector<Item> items;
  std::vector<Wait> waits;
  std::vector<Release> releases;
  std::vector<Mark> marks;  ///< in order of time
  std::vector<std::string> labels;
  std::vector<TaskEvent> enqueues, dequeues;  ///< in order of time
  std::vector<Segment> segments;              ///< in order of time, disjoint, never empty
  std::vector<Preemption> preemptions;        ///< of the helper thread: those it has recorded
  uint64_t records = 0;
  uint64_t torn = 0;
  uint64_t dropped = 0;
  uint64_t unknown =
      0;  ///< records of events and sites that this program or sites.json does not know
  uint64_t clipped = 0;  ///< frames that overlapped their neighbours, cut to fit
};

/// It lies among the items like a wait.
inline bool is_preemption(const Thread& thread, const Item& item) {
  return item.is_wait() && thread.waits[item.what & ~kWaitBit].event == VPROF_EV_PREEMPTED;
}

struct Process {
  uint64_t family = 0;
  uint32_t pid = 0;
};

/// Every record that ended after some instant is here, except those that no interval still needs.
struct Window {
  std::vector<Process> processes;
  std::vector<Thread> threads;  ///< ordered by process, then serial
};

/// Fills in the parents of a thread's items. Items that overlap without nesting (damage) are cut
/// and counted.
class Forest {
 public:
  explicit Forest(Thread& thread) : thread_(thread) {}

  /// Of what has been appended since the last call, while it is at hand; up to the first item that
  /// is not in order of its end.
  void extend();
  /// Of all that is left; puts the items into order of their end, if they are not.
  void finish();

 private:
  struct Open {
    int64_t start;
    int64_t end;
    size_t index;
  };
  void cut(Item& item, const Open& before);

  Thread& thread_;
  size_t done_ = 0;
  int64_t last_end_ = INT64_MIN;
  std::vector<Open> open_;  // items so far that lie in no other, in order of time
};

/// Puts events into order of time.
template <class Event>
void sort_by_time(std::vector<Event>& events) {
  const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) {
    std::stable_sort(events.begin(), events.end(), earlier);
  }
}

}  // namespace vprof::analyzer
