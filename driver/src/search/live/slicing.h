// How much of the time to record, so that a live run stays within its budget.
#pragma once

#include <limits>
#include <optional>

#include "pipeline/own_use/own_processor_time.h"
#include "vprof/analyzer/epoch_sums.h"

namespace vprof::driver {

/// All times are in s. Knows nothing about a clock: what it has learnt decides.
///
/// The budget is for what recording adds to the program and for vprof's own work, which takes the
/// processor from the program and its clients, all the more the less of the machine is idle. Each
/// has a part of it. Own work may come in bursts, such as a report; then pauses pay for it later.
class Slicing {
 public:
  struct Limits {
    double budget = 0;      ///< of the time that the program is busy, and of the machine: a part
    double processors = 1;  ///< of the machine
    double period = 0.25;   ///< how often there is a slice, if nothing speaks against it
    /// Own work that has cost more than its part of the budget makes no pause longer than this.
    double longest_pause = std::numeric_limits<double>::infinity();
  };
  explicit Slicing(const Limits& limits);

  struct Times {
    double recorded = 0;     ///< the slice
    double waited = 0;       ///< how long recording went on after it
    double patience = 0;     ///< how long it would have at most
    double reading = 0;      ///< how long the analysis of the slice took
    OwnWork::Step own = {};  ///< since the slice before was learnt
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
  /// Whether to record and to read all the time would cost more than the budget.
  bool is_beyond_budget() const { return cost_ && (part() < 1 || is_beyond_); }
  /// What it would cost, of late.
  double cost() const { return cost_.value_or(0) + own_part_; }
  /// Whether that is beyond the budget or unknown, or records come faster than they are read.
  bool pauses() const { return !cost_ || is_beyond_budget() || !keeps_up_; }
  /// How long a slice should be, without the time before and after it.
  double length() const;
  /// How long to pause after everything was on for `on`.
  double pause_after(double on) const;

 private:
  /// The part of the time in which recording may be on if it costs so much.
  double part_at(double cost) const;
  double part() const;
  void learn_own_work(const OwnWork::Step& work, double recorded);
  /// How long it takes until own work is paid for.
  double until_paid() const;

  const Limits limits_;
  const double for_own_work_;   // processors
  std::optional<double> cost_;  // of recording, while it is on, as it was of late
  double last_cost_ = 0;        // in the slice before
  double trial_;                // how long a slice is of which the cost is not known
  double settling_;
  double waiting_ = 0;
  double variation_ = 0;        // of the pause that follows, from 0 to 1
  bool was_trial_ = true;       // the slice before
  bool keeps_up_ = true;        // the analysis with recording
  bool waits_in_vain_ = false;  // there are intervals that take longer than anybody waits
  double idle_ = 1;             // part of the machine, of late
  double unpaid_ = 0;           // own work beyond its part of the budget, processor time
  double own_part_ = 0;         // of the machine, if all were recorded and read
  bool is_beyond_ = false;      // recording and own work together
};

}  // namespace vprof::driver
