// Who held each lock at each moment, and when each semaphore was used up: what explains the waits
// for them.
//
// The last release before the end of a wait says little about the time before that thread got the
// lock. What counts is who held the lock at each moment of the wait:
//
//   writer            |--------------- waits ----------------|
//   reader A   |=========== holds ===========|
//   reader B                             |== holds ==|
//   blame             |        A         |  A  |  B  | body
//
// The dissertation's find_waking_segment (Algorithm 2, line 7) blames B for the whole wait.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/frame_history.h"

namespace vprof::analyzer {

/// A release may appear to come this much later than the end of the wait that it ended, ns.
inline constexpr int64_t kClockSlack = 1'000'000;

/// A stretch of a wait, and the thread that is to blame for it.
struct Blame {
  uint32_t thread = kNone;  ///< kNone: somebody held the object, and it is not known who
  int64_t from = 0;
  int64_t to = 0;
  bool exact = true;
  int64_t released = 0;  ///< when it released what was waited for: at `to` or later
};

/// A wait on an object, of which the part [from, to] is to be explained. Times in ns. Of a wait in
/// slices, the part lies in the slice that ends at `slice_end`, and the last slice ends the wait.
struct WaitOnObject {
  const Wait& wait;  ///< the last slice
  uint32_t thread;
  int64_t start, end;
  int64_t slice_end;
  int64_t from, to;
};

/// The locks and semaphores of one window.
class LockHistory {
 public:
  void build(const Window& window);

  /// Appends who held the lock during the wait, in order of time. The stretches do not overlap, and
  /// none begins before its thread got the lock. What they leave open is time in which nobody held
  /// it. Appends nothing if nothing is known.
  void blame_holders(const WaitOnObject& wait, std::vector<Blame>& blames) const;

  /// The same for a mutex that a condition wait gets back: from `from` on, `wait.to` at most.
  void blame_holders_of_mutex(const WaitOnObject& wait, const ObjectKey& mutex, int64_t from,
                              std::vector<Blame>& blames) const;

  /// Appends who posted while the semaphore was used up, in order of time. Time in which it was
  /// not, since somebody else could have taken it or the waiter had yet to run, is left open.
  void blame_posters(const WaitOnObject& wait, std::vector<Blame>& blames) const;

 private:
  /// One thread's hold of a lock.
  struct Hold {
    ObjectKey object;
    int64_t released = 0;
    int64_t acquired = 0;  // kUnseen: before anybody waited
    uint64_t sequence = 0;
    uint32_t thread = 0;
    bool shared = false;  // for reading
    bool exact = true;    // false: the release was not recorded
  };
  /// A hold as far as it matters to a wait.
  struct Part {
    int64_t from, to;
    uint32_t thread;
    bool exact;
    int64_t released;  // as Blame::released
  };
  static constexpr int64_t kUnseen = INT64_MIN;

  void add_holds(const Thread& thread, uint32_t index);
  void end_unreleased_holds();
  std::vector<Part> parts_of(const WaitOnObject& wait, const ObjectKey& object, int64_t from) const;
  static void clip(std::vector<Blame>& blames, int64_t from, int64_t to);
  void add_last_holder(const WaitOnObject& wait, std::vector<Blame>& blames) const;
  static void tile(std::vector<Part>& parts, std::vector<Blame>& blames);

  std::vector<Hold> holds_;            // by object, time of release
  std::vector<SyncEvent> semaphores_;  // by object, time
};

}  // namespace vprof::analyzer
