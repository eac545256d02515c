#include "process/hang_watch.h"

#include <catch2/catch.hpp>

using vprof::driver::HangWatch;

namespace {

/// The line that the watch says in the course of `seconds`, and when it says it.
struct Said {
  std::string line;
  double at = 0;
  int times = 0;
};

Said watch(double usual_s, double seconds, const std::function<bool(double)>& advanced) {
  double now = 0;
  HangWatch watch(usual_s, [&] { return advanced(now); });
  Said said;
  for (; now < seconds; now += 0.02) {
    if (const std::string line = watch.at(now); !line.empty()) {
      said = {.line = line, .at = now, .times = said.times + 1};
    }
  }
  return said;
}

bool always(double /*now*/) { return true; }
bool never(double /*now*/) { return false; }

}  // namespace

TEST_CASE("a workload that takes three times as long as usual may hang") {
  const Said said = watch(20, 300, always);
  CHECK(said.times == 1);
  CHECK(said.at >= 60);
  CHECK(said.at < 66);
  CHECK(said.line.find("the last time it took 20.0 s") != std::string::npos);
  CHECK(said.line.find("run_timeout") != std::string::npos);
  CHECK(watch(20, 59, always).times == 0);
  CHECK(watch(0.1, 9.9, always).times == 0);  // short ones vary
}

TEST_CASE("a workload that does not get on for a minute may hang") {
  const Said said = watch(0, 300, never);
  CHECK(said.times == 1);
  CHECK(said.at >= 60);
  CHECK(said.at < 72);
  CHECK(said.line.find("ended for 6") != std::string::npos);
  CHECK(watch(0, 300, always).times == 0);
  const Said later = watch(0, 300, [](double now) { return now < 100; });
  CHECK(later.at >= 155);
  CHECK(later.at < 167);
}
