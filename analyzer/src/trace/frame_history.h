// The part of a recording that is held at one time: a window of the history of each thread. Frames
// and waits form one forest; events are kept in lists of their own.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/item_array.h"
#include "trace/nesting.h"
#include "trace/sites.h"
#include "vprof/analyzer/analyzer.h"
#include "vprof/runtime/trace_format.h"

namespace vprof::analyzer {

/// Identifies what is waited on or released. Objects in shared memory belong to a whole family of
/// processes.
struct ObjectKey {
  uint64_t scope = 0;    ///< the process, or the family of processes
  uint64_t address = 0;  ///< or a pthread_t, or a value of the application
  uint32_t kind = 0;     ///< the release event that ends such a wait
  auto operator<=>(const ObjectKey&) const = default;
};

/// Before all others.
inline constexpr int64_t kNoTime = INT64_MIN;

struct Wait {
  ObjectKey object{};
  uint64_t sequence = 0;
  /// VPROF_EV_WAIT_*. Or VPROF_EV_PREEMPTED or VPROF_EV_SETUP, which are no waits but are stored
  /// like them.
  uint32_t event = 0;
  /// Of WAIT_APP: index in sites.json; of WAIT_FILE: vprof_file_call; of WAIT_POLL and WAIT_ROOM:
  /// the descriptor that was ready, plus 1.
  uint32_t sync = 0;
  bool timed_out = false;  ///< nobody ended it
  /// Of a condition wait: the thread has held the mutex since its previous wait for the condition.
  bool again = false;
  bool mutex_shared = false;  ///< the mutex's key has the scope of the family of processes
  uint64_t mutex = 0;         ///< of a condition wait: the mutex that it gets back; 0: not known
};

/// An object was released, or acquired while somebody waited for it.
struct SyncEvent {
  ObjectKey object{};
  uint64_t sequence = 0;  ///< of a release
  int64_t time = 0;
  uint32_t thread = 0;
  bool acquired = false;
  bool after_wait = false;   ///< of an acquisition: at the end of a wait
  bool for_reading = false;  ///< of an acquisition
  bool broadcast = false;    ///< of a release
};

/// A call of poll, select or epoll_wait that blocked.
struct Poll {
  int64_t start = 0;
  int64_t time = 0;         ///< when it returned
  int64_t limit = kNoTime;  ///< when its time limit passes; INT64_MAX: never, kNoTime: not known
  bool epoll = false;  ///< the wait of an event loop, not of a function that waits for an answer
  bool one_ready = false;  ///< exactly one descriptor was ready
  Wait wait{};
};

/// BEGIN, END, SWITCH, LABEL, WORK or TRACE_CONTEXT.
struct Mark {
  int64_t time = 0;
  uint64_t id = 0;
  uint64_t scope = 0;  ///< 1 + the process if the id is local to it, else 0
  uint32_t event = 0;
  uint32_t index = 0;  ///< kind of interval; of a LABEL and TRACE_CONTEXT: index into the thread's
  uint64_t units = 0;  ///< of a WORK
  /// Of a BEGIN or SWITCH: when the thread's poll, select or epoll_wait returned last; kNoTime: not
  /// known, or never.
  int64_t polled = kNoTime;
  /// The thread began to work for other intervals since then.
  bool others_first = false;
  /// Those were not ready together with this one (VPROF_NO_BATCH).
  bool no_batch = false;
  /// Of a SWITCH: a coroutine is suspended, begins or goes on. Of a BEGIN and END: the interval is
  /// an execution of a coroutine.
  bool coroutine = false;
  uint32_t suspension = kNone;  ///< where it was suspended, or the one that awaits it was
};

struct TaskEvent {
  int64_t time = 0;
  uint64_t task = 0;
  uint32_t sync = 0;
  // Of a dequeue, filled in by WakeUpEdges: who enqueued the task, and when. kNone: unknown.
  uint32_t from_thread = kNone;
  int64_t from_time = 0;
};

/// A stretch in which a thread had no processor, recorded for it by the helper thread.
struct Preemption {
  uint32_t serial = 0;  ///< of the thread, in the same process
  int64_t start = 0;
  int64_t end = 0;
};

/// A BEGIN or SWITCH. One that the configuration asks for is recorded before the frame of its
/// function; an annotation is recorded within the frame.
struct MarkPlace {
  int64_t time = kNoTime;
  bool configured = false;
};

/// A stretch in which the thread worked for one interval.
struct Segment {
  int64_t start = 0;
  int64_t end = 0;
  uint32_t interval = 0;        ///< Interval::serial
  int64_t polled = kNoTime;     ///< Mark::polled of the mark that begins it
  bool others_first = false;    ///< Mark::others_first of the same
  MarkPlace marked;             ///< the last mark of the interval in it
  bool by_coroutine = false;    ///< it is the begin or resumption of a coroutine
  uint32_t suspension = kNone;  ///< Mark::suspension of the mark that begins it
};

/// Texts of TRACE_CONTEXT events that are none.
struct MalformedContexts {
  uint64_t count = 0;
  std::string example;
};

/// Numbers of records, from the end of the recording on.
struct Counts {
  uint64_t records = 0;
  uint64_t elsewhere = 0;  ///< among these, those that ended before or after what is looked at
  uint64_t waits = 0;      ///< among the others; also what the thread noted of preemption
  uint64_t torn = 0;
  uint64_t dropped = 0;
  uint64_t unknown = 0;        ///< events that this program, or sites that sites.json does not know
  uint64_t clipped = 0;        ///< overlapping frames that were cut to fit
  uint64_t missing_bytes = 0;  ///< of files that shrank while they were read
};

/// Aligned to cache lines of its own: several workers fill threads at the same time.
struct alignas(128) Thread {
  uint32_t process = 0;
  uint32_t serial = 0;
  uint32_t tid = 0;  ///< the kernel's thread id
  std::string name;
  ItemArray items;
  std::vector<Wait> waits;
  std::vector<SyncEvent> sync_events;  ///< in order of time
  std::vector<Mark> marks;             ///< in order of time
  std::vector<std::string> labels;
  std::vector<TraceContext> trace_contexts;  ///< of `marks`
  MalformedContexts malformed_contexts;
  std::vector<TaskEvent> enqueues, dequeues;  ///< in order of time
  std::vector<Poll> polls;                    ///< in order of time
  /// By kind of interval: in order of time, disjoint, none empty. Kinds may overlap.
  std::vector<std::vector<Segment>> segments;
  std::vector<Preemption> preemptions;  ///< of the helper thread: those of other threads
  Nesting nesting;
  Counts counts;
  /// What ends from `counted_from` on and before `counted_to` counts.
  int64_t counted_from = INT64_MIN, counted_to = INT64_MAX;

  /// Those in which the thread worked for intervals of this kind.
  std::span<const Segment> segments_of(uint32_t kind) const {
    return kind < segments.size() ? std::span<const Segment>(segments[kind])
                                  : std::span<const Segment>();
  }

  /// Fills in the parents of the items appended since the last call, while they are in the cache.
  /// Stops at the first item out of order; sort_and_merge() does the rest. Items that overlap
  /// without nesting come from damage; they are cut and counted.
  void nest();
  /// Makes item `later` begin at `end`, where the item it overlapped ends, and counts that.
  void cut(uint32_t later, int64_t end, uint32_t earlier);

  /// Whether item `j` lies within item `i`, which comes before it. `j` may be beyond the last item.
  bool has_inside(uint32_t i, uint32_t j) const {
    return j < items.size() && items[j].parent != kNone && items[j].parent >= i;
  }

  /// Whether two items come from the same place in one run of a function: the frames around them
  /// are the same, or up to `calls` levels of calls from the same sites in the same frame.
  bool has_same_place(const Item& a, const Item& b, int calls) const;

  /// Whether a wait whose time limit passed was made again, from the same place and before as much
  /// time had passed: a wait in slices.
  bool is_made_again(const Item& wait, const Item& later) const;

  /// Item `i` is a wait. The last slice of it that began before `before`; `i` if it is all.
  uint32_t last_slice(uint32_t i, int64_t before) const;

  /// The innermost item that has begun at an instant and ends later; kNone: none.
  uint32_t item_at(int64_t time) const;
  /// Likewise, of the frames.
  uint32_t frame_at(int64_t time) const;
  /// The polls that began at or after `from` and before `to`.
  std::span<const Poll> polls_within(int64_t from, int64_t to) const;

  /// Sorts the items from `first` on and merges preemptions into them, which are stored like waits.
  /// `preempted` is in order of end. If an item ends together with a preemption, the preemption is
  /// the inner one.
  void sort_and_merge(size_t first, std::span<const Preemption> preempted);

  /// Drops what matters only at or after `before`, if that is more than what remains, or if `most`
  /// more items would not fit into `capacity()`. Returns how many items are still needed.
  size_t forget(int64_t before, size_t most);

 private:
  bool is_preemption(uint32_t what) const {
    return (what & kWaitBit) != 0 && waits[what & ~kWaitBit].event == VPROF_EV_PREEMPTED;
  }
};

struct Process {
  uint64_t family = 0;  ///< 0: not known
  uint32_t pid = 0;
  std::string program;  ///< path of the executable
};

/// ObjectKey::scope of objects in memory of process number `process`, or, if they are shared, of
/// its family.
inline uint64_t object_scope(const Process& process, uint32_t number, bool shared) {
  constexpr uint64_t kFamily = 1ull << 63;  // tells families from processes
  return shared && process.family != 0 ? process.family | kFamily : number + 1;
}

/// Holds every record that ended after some instant, except those that no interval needs any more.
struct Window {
  std::vector<Process> processes;
  std::vector<Thread> threads;  ///< ordered by process, then serial
};

template <class Event>
void sort_by_time(std::vector<Event>& events) {
  const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
  if (!std::is_sorted(events.begin(), events.end(), earlier)) {
    std::stable_sort(events.begin(), events.end(), earlier);
  }
}

}  // namespace vprof::analyzer
