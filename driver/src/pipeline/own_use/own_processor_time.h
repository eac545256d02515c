// What vprof itself costs the machine.
#pragma once

#include <chrono>
#include <string>

namespace vprof::driver {

/// Processor time of this process so far, with that of all of its threads, s.
double own_processor_s();

/// Of all processors since the machine was started, in ticks of the kernel. Zeros: unknown.
struct IdleTime {
  double idle = 0, all = 0;
};
IdleTime idle_time();

/// Between two moments.
class OwnWork {
 public:
  struct Step {
    double passed = 0;  ///< s
    double own = 0;     ///< processor time of vprof meanwhile, s
    double idle = 1;    ///< the part of the machine that was idle meanwhile
  };
  /// Since the last step, or since it was made.
  Step step();
  double passed() const;

 private:
  std::chrono::steady_clock::time_point then_ = std::chrono::steady_clock::now();
  double before_ = own_processor_s();
  IdleTime idle_ = idle_time();
};

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
