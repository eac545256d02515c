// What vprof itself costs the machine.
#pragma once

#include <chrono>
#include <string>

namespace vprof::driver {

/// Of the budget, a part of the machine, what vprof's own work may take where nothing is idle.
/// Recording has the rest.
constexpr double kForOwnWork = 0.4;

/// What of own work the program and its clients miss, if this part of the machine would be idle
/// otherwise: all where nothing is, nothing where half of the machine is. Where less is, own work
/// takes time from the program now and then, whatever its priority.
double missed_by_program(double idle);

/// Processor time of this process so far, with that of all of its threads, s.
double own_processor_s();

/// How many processors a part of the machine is.
double processors_in(double part);

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

/// What it takes of the time since it was made, or since vprof was started.
class OwnUse {
 public:
  static OwnUse since_start();
  static OwnUse since_now();

  /// "vprof itself took 0.022 s of processor time a second"
  std::string text() const;

 private:
  using Clock = std::chrono::steady_clock;
  OwnUse(Clock::time_point start, double before) : start_(start), before_(before) {}

  Clock::time_point start_;
  double before_;  // s
};

}  // namespace vprof::driver
