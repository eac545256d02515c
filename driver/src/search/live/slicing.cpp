#include "search/live/slicing.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

/// What recording aims at, as a part of the budget: what it costs is an estimate. The second one is
/// where own work takes the rest.
constexpr double kAimedAt = 0.8, kLeastAimedAt = 1 - kForOwnWork;
/// Reports take processor time every ten seconds, so what own work costs is an average over some
/// slices.
constexpr double kSlices = 8;
/// A slice is at least so long: it takes 2 ms to settle.
constexpr double kShortest = 0.001;
/// What was beyond the budget is within it again at this part of it.
constexpr double kWithin = 0.8;
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

Slicing::Slicing(const Limits& limits)
    : limits_{std::max(limits.budget, kLeastBudget), limits.processors, limits.period,
              limits.longest_pause},
      for_own_work_(kForOwnWork * limits_.budget * limits_.processors),
      trial_(kFirstTrial),
      settling_(kFirstSettling) {}

void Slicing::learn(const analyzer::Slice& slice, const Times& times) {
  variation_ = std::fmod(variation_ + kGoldenRatio, 1);
  learn_own_work(times.own, times.recorded);
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
  is_beyond_ = this->cost() > (is_beyond_ ? kWithin : 1) * limits_.budget;
}

void Slicing::learn_own_work(const OwnWork::Step& work, double recorded) {
  idle_ = (idle_ + work.idle) / 2;
  const double own = work.own * missed_by_program(idle_);
  const double paid = for_own_work_ * work.passed;
  unpaid_ = std::max(0.0, unpaid_ + own - paid);
  if (cost_) {  // before a trial, vprof has done other things than read
    const double part = own / (limits_.processors * std::max(recorded, kShortest));
    own_part_ += (part - own_part_) / kSlices;
  }
}

double Slicing::until_paid() const {
  return std::min(unpaid_ / for_own_work_, limits_.longest_pause);
}

double Slicing::waiting() const {
  return waits_in_vain_ ? settling_ : std::max(waiting_, settling_);
}

double Slicing::part_at(double cost) const {
  const double left = 1 - own_part_ / limits_.budget;
  const double aimed_at = std::clamp(left, kLeastAimedAt, kAimedAt);
  const double part = aimed_at * limits_.budget / std::max(cost, 1e-9);
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
  const double wanted = part() < 1 ? part() * limits_.period : kSliceToRead;
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
  const double pause = std::max(period - on, until_paid()) * (1 + kVariation * variation_);
  return was_trial_ ? std::min(pause, kMostPauseAfterTrial) : pause;
}

}  // namespace vprof::driver
