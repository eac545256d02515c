#include "pipeline/own_use/low_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "pipeline/own_use/own_processor_time.h"

namespace vprof::driver {

namespace {

constexpr int kNice = 10;
/// If less than this part of the machine was idle, or vprof's own, work would be starved.
constexpr double kStarved = 0.05;
constexpr double kRoomIsKnownFor = 0.5;  // s

/// Whether there was room for work that only runs where a processor would be idle.
bool has_room(const OwnWork::Step& work) {
  const double own = work.own / (work.passed * std::max(1U, std::thread::hardware_concurrency()));
  return work.idle + own >= kStarved;
}

/// Of the calling thread, and of those that it starts. Nobody but root can undo it.
void lower(bool only_where_idle) {
  const struct sched_param none{};
  if (!only_where_idle || ::sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  }
}

}  // namespace

void do_at_low_priority(const std::function<void()>& work) {
  static OwnWork since_looked;
  static bool room = true;
  if (since_looked.passed() >= kRoomIsKnownFor) {
    room = has_room(since_looked.step());
  }
  std::thread([&] {
    lower(room);
    work();
  }).join();
}

}  // namespace vprof::driver
