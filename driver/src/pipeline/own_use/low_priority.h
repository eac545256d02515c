// Work that should not take the processor from the program that is measured.
#pragma once

#include <functional>

namespace vprof::driver {

/// Does `work` in a thread that runs where a processor would be idle, and waits for it. What cannot
/// wait, such as the heartbeat, goes on beside it. Where the machine has not been idle since the
/// work before, the thread takes its part of the budget instead (kForOwnWork), and no more
/// (throttle.h): so the work ends, and the program hardly feels it. One thread at a time, which
/// starts no others.
void do_at_low_priority(double budget, const std::function<void()>& work);

/// The same, for work with a result.
template <class Work>
auto at_low_priority(double budget, const Work& work) {
  decltype(work()) result;
  do_at_low_priority(budget, [&] { result = work(); });
  return result;
}

}  // namespace vprof::driver
