// What is held of a recording at one time: a window of the history of each thread, frames and waits
// as one forest, events beside it.
//
// Frames and waits stand in one array, the one that ended last first: the reverse of the order in
// which they were written. An outer one comes before what lies in it, and j > i lies within i if
// and only if parent[j] >= i. The recording is read from its end to its beginning, so what is new
// is appended; the critical path is walked back in time, so this is also the order in which it is
// looked at.
//
//   time ──────────▶        items: D  E  A  C  B       parent: - 0 - 2 2
//   [A [B] [C]] [D [E]]
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "trace/sites.h"
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

/// Items in room that is made beforehand, so that appending one is a store; it grows where it is,
/// or is moved by the system, so that what is in it need not be written to fresh memory.
class Items {
 public:
  Items() = default;
  Items(Items&& other) noexcept { *this = std::move(other); }
  Items& operator=(Items&& other) noexcept {
    std::swap(room_, other.room_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }
  ~Items() { std::free(room_); }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  size_t capacity() const { return capacity_; }
  Item& operator[](size_t i) { return room_[i]; }
  const Item& operator[](size_t i) const { return room_[i]; }
  Item* begin() { return room_; }
  Item* end() { return begin() + size_; }
  const Item* begin() const { return room_; }
  const Item* end() const { return begin() + size_; }

  /// There must be room.
  void append(const Item& item) { room_[size_++] = item; }
  /// Writes behind the last one, where there must be room, one that ended before everything: who
  /// looks for an earlier end stops there.
  void fence() { room_[size_] = {INT64_MIN, INT64_MIN, 0, kNone}; }
  /// What is new is what has been written there.
  void resize(size_t size) { size_ = size; }
  /// There must be room for all of them.
  void assign(const Items& other) {
    size_ = static_cast<size_t>(std::copy(other.begin(), other.end(), begin()) - begin());
  }
  /// Room for `count` in all.
  void grow(size_t count);

 private:
  Item* room_ = nullptr;  // of malloc
  size_t size_ = 0;
  size_t capacity_ = 0;
};

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

/// Of records, since the end of the recording.
struct Counts {
  uint64_t records = 0;
  uint64_t torn = 0;
  uint64_t dropped = 0;
  uint64_t unknown = 0;  ///< of events and sites that this program or sites.json does not know
  uint64_t clipped = 0;  ///< frames that overlapped their neighbours, cut to fit
  uint64_t missing_bytes = 0;  ///< of files that were cut off while they were read
};

/// Where the item that is appended next belongs.
struct Nesting {
  struct Open {
    int64_t start = INT64_MIN;
    uint32_t index = kNone;
  };
  /// What it may lie in, from the outer to the inner, behind one that holds everything; longer than
  /// needed.
  std::vector<Open> open = std::vector<Open>(16);
  size_t depth = 0;                ///< of the inner one; 0: it lies in none
  size_t done = 0;                 ///< items that have a parent, or none to have
  int64_t oldest_end = INT64_MAX;  ///< of the items so far

  static constexpr int64_t kOutOfOrder =
      INT64_MIN;  ///< as `oldest_end`: one of them ended later than one before
};

/// Nests items, one after the other, for a loop: what it needs is in variables of its own until
/// store().
class Nester {
 public:
  explicit Nester(Nesting& nesting)
      : nesting_(nesting),
        top_(nesting.open.data() + nesting.depth),
        last_(nesting.open.data() + nesting.open.size() - 1),
        oldest_end_(nesting.oldest_end) {}

  /// The parent of item `index`; from the first on that does not come in order there is none. Calls
  /// cut(i) where item i, which ended later, has to begin at `end` to lie beside it.
  template <class Cut>
  [[gnu::always_inline]] uint32_t parent_of(uint32_t index, int64_t start, int64_t end,
                                            const Cut& cut) {
    if (end > oldest_end_) [[unlikely]] {
      oldest_end_ = Nesting::kOutOfOrder;
      return kNone;
    }
    oldest_end_ = end;
    const Nesting::Open* const inner = top_;
    while (top_->start > start) {
      --top_;
    }
    // Of those that it does not lie in the outermost one begins first.
    if (top_ != inner && top_[1].start < end) [[unlikely]] {
      for (const Nesting::Open* open = top_ + 1; open <= inner && open->start < end; ++open) {
        cut(open->index);
      }
    }
    const uint32_t parent = top_->index;
    if (top_ == last_) [[unlikely]] {
      std::vector<Nesting::Open>& open = nesting_.open;
      const size_t depth = open.size() - 1;
      open.resize(2 * open.size());
      top_ = open.data() + depth;
      last_ = open.data() + open.size() - 1;
    }
    ++top_;
    top_->start = start;
    top_->index = index;
    return parent;
  }

  /// `done`: items in all.
  void store(size_t done) const {
    nesting_.depth = static_cast<size_t>(top_ - nesting_.open.data());
    nesting_.oldest_end = oldest_end_;
    nesting_.done = done;
  }

 private:
  Nesting& nesting_;
  Nesting::Open* top_;
  Nesting::Open* last_;
  int64_t oldest_end_;
};

/// Each in cache lines of its own: they are filled side by side.
struct alignas(128) Thread {
  uint32_t process = 0;
  uint32_t serial = 0;
  std::string name;
  Items items;
  std::vector<Wait> waits;
  std::vector<Release> releases;
  std::vector<Mark> marks;  ///< in order of time
  std::vector<std::string> labels;
  std::vector<TaskEvent> enqueues, dequeues;  ///< in order of time
  std::vector<Segment> segments;              ///< in order of time, disjoint, never empty
  std::vector<Preemption> preemptions;        ///< of the helper thread: those it has recorded
  Nesting nesting;
  Counts counts;

  /// Fills in the parents of what has been appended since the last call, while it is at hand. From
  /// the first item on that does not come in order there are none, until settle() is called. Items
  /// that overlap without nesting (damage) are cut and counted.
  void nest();
  /// Lets an item begin where one that it overlapped ends, and counts that.
  void cut(uint32_t later, int64_t end, uint32_t earlier);

  /// Whether item `j`, which may be beyond the last, lies within `i`, which stands before it.
  bool has_inside(uint32_t i, uint32_t j) const {
    return j < items.size() && items[j].parent != kNone && items[j].parent >= i;
  }

  /// Puts the items from `first` on into order, and adds preemptions, which lie among them like
  /// waits (in order of their end; of an item that ends with one, the preemption is the inner one).
  void settle(size_t first, std::span<const Preemption> preempted);

  /// Drops all that only matters at or after an instant, if that is more than the rest, or `most`
  /// more items would not fit into `capacity()`. Returns how many items are still needed.
  size_t forget(int64_t before, size_t most);

 private:
  bool is_preemption(uint32_t what) const {
    return (what & kWaitBit) != 0 && waits[what & ~kWaitBit].event == VPROF_EV_PREEMPTED;
  }
};

struct Process {
  uint64_t family = 0;
  uint32_t pid = 0;
};

/// Every record that ended after some instant is here, except those that no interval still needs.
struct Window {
  std::vector<Process> processes;
  std::vector<Thread> threads;  ///< ordered by process, then serial
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
