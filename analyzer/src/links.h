// Wake-up and created-by edges: who ended a wait, and who enqueued what a thread dequeued.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timeline.h"

namespace vprof::analyzer {

struct WakeUp {
  uint32_t thread = kNone;
  int64_t time = 0;  ///< of the release; within the wait
  bool exact = true;
};

/// Releases by object. Answers are the same whenever they are asked for.
class Links {
 public:
  /// Also fills in the origins of Thread::dequeues.
  explicit Links(Recording& recording);

  /// What ended this wait of `thread`, or nothing: an unknown waker is a state, never a guess.
  std::optional<WakeUp> waker(uint32_t thread, const Wait& wait, int64_t start, int64_t end) const;

 private:
  struct Candidates;
  Candidates candidates(const Wait& wait) const;
  std::optional<WakeUp> first_write(uint32_t thread, const Wait& wait, int64_t start,
                                    int64_t end) const;

  std::vector<Release> releases_;  // by object, sequence, time
};

}  // namespace vprof::analyzer
