// Waits on condition variables: which signal ended which of them, and which are turns of one loop
// around a predicate.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/frame_history.h"

namespace vprof::analyzer {

/// The signal that ended a condition wait.
struct MatchedSignal {
  uint32_t thread = kNone;  ///< kNone: not known
  bool exact = false;
  int64_t time = 0;
};

/// The condition waits of one window.
class ConditionWaits {
 public:
  /// `releases`: of all objects of the window, by object, sequence, time.
  void build(const Window& window, std::span<const SyncEvent> releases);

  /// The last turn before `before` of the loop in which `thread` made this wait. Most loops have
  /// one turn.
  uint32_t last_turn(uint32_t thread, uint32_t wait, int64_t before) const;

  /// The signal that ended this turn.
  const MatchedSignal& signal_of(uint32_t thread, uint32_t wait) const {
    return waits_[thread][wait].signal;
  }

  /// Whether the wait is one of several turns, all of them after `after`, of a loop that was left
  /// after a time limit before `before`.
  bool left_without_signal(uint32_t thread, uint32_t wait, int64_t after, int64_t before) const;

 private:
  /// What is known of one wait of a thread.
  struct Known {
    MatchedSignal signal;
    int64_t start = 0;
    uint32_t last_turn = kNone;  // the wait in the last turn of its loop, often itself
    uint32_t next_turn = kNone;  // kNone: none
    uint32_t turn_before = kNone;
  };
  /// A wait that did not time out.
  struct Sleeper {
    ObjectKey object;
    int64_t start, end;
    uint64_t sequence;
    uint32_t thread, wait;
  };
  static std::vector<Sleeper> sleepers_of(const Window& window);
  void find_turns(uint32_t thread);
  /// A broadcast that woke `sleeper`, and the signals that followed before the sleeper returned.
  struct Woken {
    const Sleeper* sleeper;
    std::span<const SyncEvent> signals;
  };
  void match(std::span<const Sleeper> sleepers, std::span<const SyncEvent> signals);
  void choose_among(std::span<const Woken> woken);

  const Window* window_ = nullptr;
  std::vector<std::vector<Known>> waits_;  // by thread, wait
};

}  // namespace vprof::analyzer
