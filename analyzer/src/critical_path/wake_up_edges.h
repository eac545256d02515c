// Wake-up and created-by edges (dissertation 2.3.3.2): who ended a wait, and who enqueued the task
// that a thread dequeued.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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
  /// Indexes the releases of the window's threads, matches signals to condition waits, and fills in
  /// who enqueued each of Thread::dequeues.
  void build(Window& window);

  /// What ended this wait of `thread`, or nothing: an unknown waker is never replaced by a guess.
  /// [start, end]: the wait.
  std::optional<WakeUp> waker(uint32_t thread, uint32_t wait, int64_t start, int64_t end) const;

 private:
  struct Candidates {
    const Release* first;
    const Release* last;  // one past the newest release that the wait can have seen
  };
  /// The signal that ended a condition wait.
  struct MatchedSignal {
    uint32_t thread = kNone;
    bool exact = false;
    int64_t time = 0;
  };
  /// A condition wait that did not time out.
  struct Sleeper {
    ObjectKey object;
    int64_t start, end;
    uint64_t sequence;
    uint32_t thread, wait;
  };
  Candidates candidates(const Wait& wait) const;
  static std::vector<Sleeper> sleepers_of(const Window& window);
  void match_signals();
  void match_signals(std::span<const Sleeper> sleepers, Candidates signals);
  std::optional<WakeUp> newest_release(uint32_t thread, const Wait& wait, int64_t start,
                                       int64_t end) const;
  std::optional<WakeUp> last_release(uint32_t thread, const Wait& wait, int64_t start,
                                     int64_t end) const;
  std::optional<WakeUp> first_write(uint32_t thread, const Wait& wait, int64_t start,
                                    int64_t end) const;

  const Window* window_ = nullptr;
  std::vector<Release> releases_;                            // by object, sequence, time
  std::vector<std::vector<MatchedSignal>> matched_signals_;  // by thread, wait
};

}  // namespace vprof::analyzer
