// Work that should not take the processor from the program that is measured.
#pragma once

#include <functional>

namespace vprof::driver {

/// Does `work` in a thread, as are those that it starts, that runs where a processor would be idle,
/// and waits for it. What cannot wait, such as the heartbeat, goes on beside it. Where the machine
/// has not been idle since the work before, it has a tenth of what a thread of the program gets
/// instead, so that it ends. One thread at a time.
void do_at_low_priority(const std::function<void()>& work);

/// The same, for work with a result.
template <class Work>
auto at_low_priority(const Work& work) {
  decltype(work()) result;
  do_at_low_priority([&] { result = work(); });
  return result;
}

}  // namespace vprof::driver
