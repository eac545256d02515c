#include "pipeline/own_use/own_processor_time.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace vprof::driver {

namespace {

constexpr double kIdle = 0.5;

const auto process_start = std::chrono::steady_clock::now();

}  // namespace

double missed_by_program(double idle) { return std::max(0.0, 1 - idle / kIdle); }

double own_processor_s() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const struct timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double processors_in(double part) {
  return part * std::max(1U, std::thread::hardware_concurrency());
}

IdleTime idle_time() {
  IdleTime sum;
  std::string name;
  double ticks = 0;
  std::ifstream stat("/proc/stat");
  stat >> name;
  // user nice system idle iowait irq softirq steal; what guests take is in user.
  for (int i = 0; i < 8 && stat >> ticks; ++i) {
    sum.all += ticks;
    sum.idle += i == 3 || i == 4 ? ticks : 0;
  }
  return sum;
}

double OwnWork::passed() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - then_).count();
}

OwnWork::Step OwnWork::step() {
  const double own = own_processor_s();
  const IdleTime idle = idle_time();
  const double all = idle.all - idle_.all;
  const Step step{.passed = passed(),
                  .own = own - before_,
                  .idle = all > 0 ? (idle.idle - idle_.idle) / all : 1};
  then_ = std::chrono::steady_clock::now();
  before_ = own;
  idle_ = idle;
  return step;
}

OwnUse OwnUse::since_start() { return {process_start, 0}; }
OwnUse OwnUse::since_now() { return {Clock::now(), own_processor_s()}; }

std::string OwnUse::text() const {
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  return fmt::format("vprof itself took {:.3f} s of processor time a second",
                     (own_processor_s() - before_) / seconds);
}

}  // namespace vprof::driver
