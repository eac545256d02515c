// How much of an epoch to record, so that recording stays within its budget.
#pragma once

#include <optional>

#include "vprof/analyzer/epoch_sums.h"

namespace vprof::driver {

/// All times are in s. Knows nothing about a clock: what it has learnt decides.
class Slicing {
 public:
  /// @param budget how much recording may add to the time that the program is busy, as a part of it
  /// @param period how often there is a slice, if nothing speaks against it
  explicit Slicing(double budget, double period = 0.25);

  struct Times {
    double recorded = 0;  // the slice
    double waited = 0;    // how long recording went on after it
    double patience = 0;  // how long it would have at most
    double reading = 0;   // how long the analysis of the slice took
  };
  void learn(const analyzer::Slice& slice, const Times& times);
  /// Other sites are on from now on.
  void forget_cost() {
    cost_.reset();
    keeps_up_ = true;
  }
  bool knows_cost() const { return cost_.has_value(); }

  /// How long what ran before a slice needs to end.
  double settling() const { return settling_; }
  /// How long what has begun in a slice needs to end.
  double waiting() const;
  /// Whether recording all the time would cost more than the budget, what it costs is unknown, or
  /// records come faster than they are read.
  bool pauses() const { return part() < 1 || !keeps_up_; }
  /// How long a slice should be, without the time before and after it.
  double length() const;
  /// How long to pause after everything was on for `on`.
  double pause_after(double on) const;

 private:
  /// The part of the time in which recording may be on if it costs so much.
  double part_at(double cost) const;
  double part() const;

  const double budget_;
  const double period_;
  std::optional<double> cost_;  // of recording, while it is on, as it was of late
  double last_cost_ = 0;        // in the slice before
  double trial_;                // how long a slice is of which the cost is not known
  double settling_;
  double waiting_ = 0;
  double variation_ = 0;        // of the pause that follows, from 0 to 1
  bool was_trial_ = true;       // the slice before
  bool keeps_up_ = true;        // the analysis with recording
  bool waits_in_vain_ = false;  // there are intervals that take longer than anybody waits
};

}  // namespace vprof::driver
