#include "pipeline/own_use/low_priority.h"

#include <sched.h>

#include <chrono>
#include <optional>
#include <thread>

#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/own_use/throttle.h"

namespace vprof::driver {

namespace {

/// If less than this part of the machine was idle, or vprof's own, work would be starved.
constexpr double kStarved = 0.05;
constexpr double kRoomIsKnownFor = 0.5;  // s
/// How long to look at the machine before the first work.
constexpr std::chrono::milliseconds kFirstLook{100};

/// Whether there was room for work that only runs where a processor would be idle.
bool has_room(const OwnWork::Step& work) {
  const double own = work.own / (work.passed * processors_in(1));
  return work.idle + own >= kStarved;
}

bool there_is_room() {
  static OwnWork since_looked;
  static std::optional<bool> room;
  if (!room) {
    std::this_thread::sleep_for(kFirstLook);
  }
  if (!room || since_looked.passed() >= kRoomIsKnownFor) {
    room = has_room(since_looked.step());
  }
  return *room;
}

/// Of the calling thread. Nobody but root can undo it.
bool run_where_idle() {
  const struct sched_param none{};
  return ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
}

}  // namespace

void do_at_low_priority(double budget, const std::function<void()>& work) {
  const bool room = there_is_room();
  std::thread([&] {
    std::optional<Throttle> throttle;
    if (!room || !run_where_idle()) {
      throttle.emplace(processors_in(kForOwnWork * budget));
    }
    work();
  }).join();
}

}  // namespace vprof::driver
