// What vprof itself costs the machine.
#pragma once

#include <chrono>
#include <string>

namespace vprof::driver {

/// Processor time of this process so far, with that of all of its threads, s.
double own_processor_s();

/// The part of the machine's processor time that was idle since `since`, which becomes now. 1:
/// unknown.
struct IdleTime {
  double idle = 0, all = 0;
};
double idle_part(IdleTime& since);

/// Since it was made.
class OwnUse {
 public:
  double seconds() const;
  /// "vprof itself took 0.022 s of processor time a second"
  std::string text() const;

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  double before_ = own_processor_s();
};

}  // namespace vprof::driver
