#include "process/hang_watch.h"

#include <fmt/format.h>

#include <algorithm>

namespace vprof::driver {

namespace {

constexpr double kTimesAsLong = 3;
constexpr double kLeastS = 10;   // on a busy machine, a short workload may well take thrice as long
constexpr double kSilentS = 60;  // without an interval or a measured call
constexpr double kLookEachS = 5;

}  // namespace

HangWatch::HangWatch(double usual_s, std::function<bool()> advanced, double patience)
    : usual_s_(usual_s), patience_(patience), advanced_(std::move(advanced)) {}

std::string HangWatch::at(double seconds) {
  if (told_ || seconds < looked_s_ + kLookEachS * patience_) {
    return "";
  }
  looked_s_ = seconds;
  if (advanced_()) {
    last_new_s_ = seconds;
  }
  const double silent = seconds - last_new_s_;
  const double longest = std::max(kTimesAsLong * usual_s_, kLeastS * patience_);
  std::string why;
  if (usual_s_ > 0 && seconds > longest) {
    why = fmt::format("the last time it took {:.1f} s", usual_s_);
  } else if (silent >= kSilentS * patience_) {
    why = fmt::format("no interval and no measured call has ended for {:.0f} s", silent);
  } else {
    return "";
  }
  told_ = true;
  return fmt::format(
      "the workload has not ended after {:.0f} s, and {}; \"run\" must stop what it starts and "
      "end by itself. Ctrl-C ends it now; \"run_timeout\": SECONDS in vprof.json ends it after "
      "that time",
      seconds, why);
}

}  // namespace vprof::driver
