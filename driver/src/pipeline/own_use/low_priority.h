// Work that should not take the processor from the program that is measured.
#pragma once

#include <functional>

#include "pipeline/own_use/own_processor_time.h"

namespace vprof::driver {

enum class Rests {
  kWhereNothingIsIdle,  ///< the slices of a search pay for the rest with longer pauses
  kWhereItIsMissed,     ///< wherever less than half of the machine is idle (missed_by_program())
};

/// Does `work` in a thread that runs where a processor would be idle, and waits for it. What cannot
/// wait, such as the heartbeat, goes on beside it. The kernel keeps to that only within one session
/// or control group, and the program is usually in another. So the thread also rests (throttle.h)
/// when the program misses more than this part of the machine because of it. With kWhereItIsMissed
/// that follows what is idle while the work lasts: when the program has ended, nobody has to wait.
/// One thread at a time, which starts no others.
void do_at_low_priority(double part, Rests rests, const std::function<void()>& work);

/// The same, for work with a result that slices have to wait for: its part of the budget.
template <class Work>
auto at_low_priority(double budget, const Work& work, double part = kForOwnWork,
                     Rests rests = Rests::kWhereNothingIsIdle) {
  decltype(work()) result;
  do_at_low_priority(part * budget, rests, [&] { result = work(); });
  return result;
}

/// That of a watch, which goes on for days and is in no hurry.
template <class Work>
auto in_no_hurry(double budget, const Work& work) {
  return at_low_priority(budget, work, kForOwnWork, Rests::kWhereItIsMissed);
}

/// While nothing is recorded, own work may take the whole budget.
template <class Work>
auto with_whole_budget(double budget, const Work& work) {
  return at_low_priority(budget, work, 1, Rests::kWhereItIsMissed);
}

/// How many processors the thread may take where `room` of the machine is idle or vprof's own; 1 or
/// more is no limit. `waits`: it runs only where a processor would be idle.
double allowed_at_low_priority(double part, Rests rests, bool waits, double room);

}  // namespace vprof::driver
