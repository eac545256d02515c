// Work that should not take the processor from the program that is measured.
#pragma once

#include <functional>

#include "pipeline/own_use/own_processor_time.h"

namespace vprof::driver {

/// Does `work` in a thread that runs where a processor would be idle, and waits for it. What cannot
/// wait, such as the heartbeat, goes on beside it. The kernel keeps to that only within one session
/// or control group, and the program is usually in another. So where less than half of the machine
/// has been idle since the work before, the thread takes no more (throttle.h) than lets the program
/// miss its part of the budget (kForOwnWork, missed_by_program()). One thread at a time, which
/// starts no others.
void do_at_low_priority(double budget, const std::function<void()>& work);

/// The same, for work with a result.
template <class Work>
auto at_low_priority(double budget, const Work& work) {
  decltype(work()) result;
  do_at_low_priority(budget, [&] { result = work(); });
  return result;
}

/// The same while nothing is recorded: own work may take the whole budget.
template <class Work>
auto with_whole_budget(double budget, const Work& work) {
  return at_low_priority(budget / kForOwnWork, work);
}

}  // namespace vprof::driver
