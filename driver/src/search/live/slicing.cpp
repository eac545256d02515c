#include "search/live/slicing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

/// What recording aims at, as a part of the budget: what it costs is an estimate.
constexpr double kAimedAt = 0.8;
constexpr double kLeastBudget = 0.001;
/// Hardly a pause would remain.
constexpr double kAlmostAll = 0.9;
/// Within the budget, where to read slices takes longer than to record them, they are as long as
/// this.
constexpr double kSliceToRead = 1;
/// Analysis that takes longer than this part of what it reads falls behind sooner or later.
constexpr double kKeepsUp = 0.5;
/// A slice is at least this many times as long as the settling and waiting around it.
constexpr double kLeastTimes = 2;
constexpr double kFirstTrial = 0.02, kMostTrial = 1;
/// Within this time all threads have seen that a site was switched.
constexpr double kLeastSettling = 0.002, kFirstSettling = 0.02, kMostSettling = 1;
/// Unknown costs may be many times the budget, and should be no reason to wait for long.
constexpr double kMostPauseAfterTrial = 1;
/// Pauses are longer than they need be by up to this part, in steps of the golden ratio: at regular
/// intervals, slices would always see the same moment of what the program does as regularly.
constexpr double kVariation = 0.25;
constexpr double kGoldenRatio = 0.6180339887498949;

}  // namespace

Slicing::Slicing(double budget, double period)
    : budget_(std::max(budget, kLeastBudget)),
      period_(period),
      trial_(kFirstTrial),
      settling_(kFirstSettling) {}

void Slicing::learn(const analyzer::Slice& slice, const Times& times) {
  variation_ = std::fmod(variation_ + kGoldenRatio, 1);
  if (slice.count != 0) {
    settling_ = std::clamp(2 * slice.p99_ns / 1e9, kLeastSettling, kMostSettling);
  }
  if (slice.incomplete != 0) {
    waits_in_vain_ = waits_in_vain_ || times.waited >= times.patience;
    waiting_ = std::max(waiting_, std::min(2 * times.waited, times.patience));
  }
  keeps_up_ = times.reading < kKeepsUp * (times.recorded + times.waited);
  if (slice.overhead.records == 0 || slice.overhead.processor_ns <= 0) {
    trial_ = std::min(2 * trial_, kMostTrial);  // the program does nothing yet
    return;
  }
  const double cost = analyzer::program_cost(slice.overhead);
  was_trial_ = !cost_;
  last_cost_ = cost;
  cost_ = cost_ ? (*cost_ + cost) / 2 : cost;
}

double Slicing::waiting() const {
  return waits_in_vain_ ? settling_ : std::max(waiting_, settling_);
}

double Slicing::part_at(double cost) const {
  const double part = kAimedAt * budget_ / std::max(cost, 1e-9);
  return part < kAlmostAll ? part : 1;
}

double Slicing::part() const { return cost_ ? part_at(*cost_) : 0; }

double Slicing::length() const {
  if (!cost_) {
    return std::max(trial_, settling_);
  }
  if (!pauses()) {
    return std::numeric_limits<double>::infinity();
  }
  const double around = settling() + waiting();
  const double wanted = part() < 1 ? part() * period_ : kSliceToRead;
  return std::max(kLeastTimes * around, wanted - around);
}

double Slicing::pause_after(double on) const {
  if (!cost_ || !pauses()) {
    return 0;
  }
  double period = on / part_at(last_cost_);
  if (period < 1) {
    period = 1 / std::floor(1 / period);  // so that no second has more slices than others
  }
  const double pause = (period - on) * (1 + kVariation * variation_);
  return was_trial_ ? std::min(pause, kMostPauseAfterTrial) : pause;
}

}  // namespace vprof::driver
