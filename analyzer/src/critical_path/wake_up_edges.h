// Wake-up and created-by edges (dissertation 2.3.3.2): who ended a wait, and who enqueued the task
// that a thread dequeued.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "critical_path/condition_waits.h"
#include "critical_path/lock_history.h"
#include "trace/frame_history.h"

namespace vprof::analyzer {

struct WakeUp {
  uint32_t thread = kNone;
  int64_t time = 0;  ///< of the release, within the wait
  bool exact = true;
};

/// The edges of one window. They do not depend on the order in which they are asked for.
class WakeUpEdges {
 public:
  /// Indexes the releases and acquisitions of the window's threads, matches signals to condition
  /// waits, and fills in who enqueued each of Thread::dequeues.
  void build(Window& window);

  /// The part [from, to] of a wait. Turns and slices later than `released` do not matter: by then
  /// the thread had released whoever waited for it.
  struct Part {
    int64_t from, to, released;
  };
  /// Appends who is to blame for a part of a wait, item `item` of `thread`, in order of time:
  /// stretches that do not overlap. What they leave open is the time in which the waiter could have
  /// gone on and did not run. Nothing: an unknown waker is never replaced by a guess.
  void blame(uint32_t thread, uint32_t item, Part part, std::vector<Blame>& blames) const;

  /// Whether a condition wait is a turn of a loop that was left after a time limit, without a
  /// signal, between `after` and `before`.
  bool left_without_signal(uint32_t thread, uint32_t wait, int64_t after, int64_t before) const {
    return condition_waits_.left_without_signal(thread, wait, after, before);
  }

  /// What ended a wait of `thread` from `start` to `end`, if one release explains all of it.
  std::optional<WakeUp> waker(uint32_t thread, const Wait& wait, int64_t start, int64_t end) const;

 private:
  struct Candidates {
    const SyncEvent* first;
    const SyncEvent* last;  // one past the newest release that the wait can have seen
  };
  Candidates candidates(const Wait& wait) const;
  void blame_signaller(const WaitOnObject& wait, int64_t before, std::vector<Blame>& blames) const;
  void blame_releasers(const WaitOnObject& wait, std::vector<Blame>& blames) const;
  std::optional<WakeUp> newest_release(uint32_t thread, const Wait& wait, int64_t start,
                                       int64_t end) const;
  std::optional<WakeUp> last_release(uint32_t thread, const Wait& wait, int64_t start,
                                     int64_t end) const;
  std::optional<WakeUp> first_write(uint32_t thread, const Wait& wait, int64_t start,
                                    int64_t end) const;

  const Window* window_ = nullptr;
  LockHistory locks_;
  std::vector<SyncEvent> releases_;  // by object, sequence, time
  ConditionWaits condition_waits_;
};

}  // namespace vprof::analyzer
