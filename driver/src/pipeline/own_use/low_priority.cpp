#include "pipeline/own_use/low_priority.h"

#include <sched.h>

#include <chrono>
#include <future>
#include <optional>
#include <thread>

#include "pipeline/own_use/own_processor_time.h"
#include "pipeline/own_use/throttle.h"

namespace vprof::driver {

namespace {

/// Where less than this part of the machine is idle, work that only runs there would be starved.
constexpr double kStarved = 0.05;
constexpr std::chrono::milliseconds kRoomIsKnownFor{500};
/// How long to look at the machine before the first work.
constexpr std::chrono::milliseconds kFirstLook{100};

/// The part of the machine that is idle, or vprof's own.
double room_on_machine() {
  static OwnWork since_looked;
  static std::optional<double> room;
  if (!room) {
    std::this_thread::sleep_for(kFirstLook);
  }
  if (!room || since_looked.passed() >= std::chrono::duration<double>(kRoomIsKnownFor).count()) {
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
  std::packaged_task<void()> task([&] {
    const bool waits = room >= kStarved && run_where_idle();
    const Throttle throttle(allowed_at_low_priority(part, rests, waits, room));
    work();
  });
  auto done = task.get_future();
  std::thread thread(std::move(task));
  while (rests == Rests::kWhereItIsMissed &&
         done.wait_for(kRoomIsKnownFor) == std::future_status::timeout) {
    Throttle::limit(allowed_at_low_priority(part, rests, true, room_on_machine()));
  }
  thread.join();
  done.get();
}

double allowed_at_low_priority(double part, Rests rests, bool waits, double room) {
  double missed = waits ? 0 : 1;
  if (rests == Rests::kWhereItIsMissed) {
    missed = missed_by_program(room);
  }
  return missed > 0 ? processors_in(part) / missed : 1;
}

}  // namespace vprof::driver
