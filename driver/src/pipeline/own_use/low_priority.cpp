#include "pipeline/own_use/low_priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "pipeline/own_use/own_processor_time.h"

namespace vprof::driver {

namespace {

constexpr int kNice = 10;
/// Work that has taken this long, with less than this part of a processor, was starved.
constexpr double kLong = 2;  // s
constexpr double kStarved = 0.05;

/// Has any been?
std::atomic<bool> was_starved{false};

/// Of the calling thread, and of those that it starts.
void lower() {
  const struct sched_param none{};
  if (was_starved || ::sched_setscheduler(0, SCHED_IDLE, &none) != 0) {
    ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
  }
}

}  // namespace

void do_at_low_priority(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  const double before = own_processor_s();
  std::thread([&] {
    lower();
    work();
  }).join();
  const double passed =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (passed > kLong && own_processor_s() - before < kStarved * passed) {
    was_starved = true;
  }
}

}  // namespace vprof::driver
