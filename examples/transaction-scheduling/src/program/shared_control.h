// A concurrency control for threads: where it has no locks of its own, one mutex, and a condition
// variable for each attempt.
#pragma once

#include <mutex>

#include "program/execution.h"

namespace smf {

class SharedControl {
 public:
  explicit SharedControl(ConcurrencyControl& control) : control_(control) {}

  void begin(Attempt& attempt);
  // The next operation; waits for other transactions if it must. Never kWait.
  Outcome step(Execution& execution);
  // After the last operation.
  Outcome commit(Execution& execution);
  void roll_back(Execution& execution);

 private:
  std::unique_lock<std::mutex> lock();
  Outcome step_locked(Execution& execution, std::unique_lock<std::mutex>& lock);
  void wait_for_others(Attempt* attempt, std::unique_lock<std::mutex>& lock);
  void wake();

  ConcurrencyControl& control_;
  std::mutex mutex_;
};

}  // namespace smf
