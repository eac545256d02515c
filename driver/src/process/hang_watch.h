// Notices that a workload may never end.
#pragma once

#include <functional>
#include <string>

namespace vprof::driver {

class HangWatch {
 public:
  /// `usual_s`: how long the workload took the last time, in s; 0: unknown. `advanced` says
  /// whether the workload has got on since it was last asked, which is every few seconds.
  /// `patience` multiplies all times; only tests change it.
  HangWatch(double usual_s, std::function<bool()> advanced, double patience = 1);

  /// To be called often, with the seconds since the workload began. Returns a line to show, once,
  /// when the workload takes three times as long as usual (and at least 10 s) or has not got
  /// on for a minute. Otherwise "".
  std::string at(double seconds);

 private:
  double usual_s_, patience_;
  std::function<bool()> advanced_;
  double looked_s_ = 0;    // when it was asked
  double last_new_s_ = 0;  // when it last said yes
  bool told_ = false;
};

}  // namespace vprof::driver
