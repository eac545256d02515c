// Wake-up and created-by edges: who ended a wait, and who enqueued what a thread dequeued.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/frame_history.h"

namespace vprof::analyzer {

struct WakeUp {
  uint32_t thread = kNone;
  int64_t time = 0;  ///< of the release; within the wait
  bool exact = true;
};

/// Releases of one window by object. Answers are the same whenever they are asked for.
class Links {
 public:
  /// Takes the releases out of the window's threads in order, leaves them there, and fills in the
  /// origins of Thread::dequeues.
  void build(Window& window);

  /// What ended this wait of `thread`, or nothing: an unknown waker is a state, never a guess.
  /// [start, end]: the wait.
  std::optional<WakeUp> waker(uint32_t thread, uint32_t wait, int64_t start, int64_t end) const;

 private:
  struct Candidates {
    const Release* first;
    const Release* last;  // one past the newest release that the wait can have seen
  };
  /// Of a condition wait, once signals are given out.
  struct Signalled {
    uint32_t thread = kNone;
    bool exact = false;
    int64_t time = 0;
  };
  Candidates candidates(const Wait& wait) const;
  void give_out_signals();
  std::optional<WakeUp> first_write(uint32_t thread, const Wait& wait, int64_t start,
                                    int64_t end) const;

  const Window* window_ = nullptr;
  std::vector<Release> releases_;                  // by object, sequence, time
  std::vector<std::vector<Signalled>> signalled_;  // by thread, wait
};

}  // namespace vprof::analyzer
