#include "pipeline/own_use/own_processor_time.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <fstream>

namespace vprof::driver {

double own_processor_s() {
  struct rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const struct timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double idle_part(IdleTime& since) {
  const IdleTime before = since;
  std::string name;
  double ticks = 0;
  std::ifstream stat("/proc/stat");
  stat >> name;
  since = {};
  // user nice system idle iowait irq softirq steal; what guests take is in user.
  for (int i = 0; i < 8 && stat >> ticks; ++i) {
    since.all += ticks;
    since.idle += i == 3 || i == 4 ? ticks : 0;
  }
  const double all = since.all - before.all;
  return all > 0 ? (since.idle - before.idle) / all : 1;
}

double OwnUse::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

std::string OwnUse::text() const {
  return fmt::format("vprof itself took {:.3f} s of processor time a second",
                     (own_processor_s() - before_) / seconds());
}

}  // namespace vprof::driver
