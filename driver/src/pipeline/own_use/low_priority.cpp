#include "pipeline/own_use/low_priority.h"

#include <sched.h>

#include <chrono>
#include <optional>
#include <thread>

#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/own_use/throttle.h"

namespace vprof::driver {

namespace {

/// Where less than this part of the machine is idle, work that only runs there would be starved.
constexpr double kStarved = 0.05;
constexpr double kRoomIsKnownFor = 0.5;  // s
/// How long to look at the machine before the first work.
constexpr std::chrono::milliseconds kFirstLook{100};

/// The part of the machine that is idle, or vprof's own.
double room_on_machine() {
  static OwnWork since_looked;
  static std::optional<double> room;
  if (!room) {
    std::this_thread::sleep_for(kFirstLook);
  }
  if (!room || since_looked.passed() >= kRoomIsKnownFor) {
    const OwnWork::Step work = since_looked.step();
    room = work.idle + work.own / (work.passed * processors_in(1));
  }
  return *room;
}

/// Of the calling thread. Nobody but root can undo it.
bool run_where_idle() {
  const struct sched_param none{};
  return ::sched_setscheduler(0, SCHED_IDLE, &none) == 0;
}

}  // namespace

void do_at_low_priority(double part, Rests rests, const std::function<void()>& work) {
  const double room = room_on_machine();
  const double missed = rests == Rests::kWhereItIsMissed ? missed_by_program(room) : 0;
  std::thread([&] {
    const bool waits = room >= kStarved && run_where_idle();
    std::optional<Throttle> throttle;
    if (!waits || missed > 0) {
      throttle.emplace(processors_in(part) / (waits ? missed : 1));
    }
    work();
  }).join();
}

}  // namespace vprof::driver
