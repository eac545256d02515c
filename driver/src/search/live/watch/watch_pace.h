// Whether a watch records all the time, or in slices with pauses in between.
#pragma once

#include "search/live/slicing.h"

namespace vprof::driver {

/// All times are in s. Knows nothing about a clock: what it has learnt decides.
///
/// A watch records all the time as long as that costs no more than the budget, and the rings of the
/// program hold what vprof has not yet read. Otherwise it records in slices: as much as the budget
/// allows for, and as the rings hold. The less of the machine is idle, the more of the time to read
/// them does vprof take from the program and its clients, so that counts, too.
class WatchPace {
 public:
  /// @param budget how much of the time that the program is busy, and of the machine, the watch may
  ///     take, as a part of it
  /// @param processors of the machine
  /// @param period how often there is a slice, if the budget allows for it
  WatchPace(double budget, double processors, double period);

  /// What was recorded in one piece: a slice, or what has come since the window before.
  struct Piece {
    double length = 0;
    double missing = 0;  ///< of that, at its begin: the rings did not hold it any more
    double held = 0;     ///< how far back the rings went when it was copied
    double waited = 0;   ///< after it, for intervals that had not ended
    double patience = 0;
    double reading = 0;  ///< how long that took
    double own = 0;      ///< processor time of vprof since the last piece
    double idle = 0;     ///< the part of the machine that was idle meanwhile
  };
  void learn(const analyzer::Slice& slice, const Piece& piece);

  bool slices() const { return is_beyond_budget() || is_behind_ || longest_ < kHoldsAll; }
  /// Why there are slices: recording all the time would cost more than the budget ...
  bool is_beyond_budget() const { return is_beyond_budget_; }
  /// ... or to read it takes too long. If neither, the rings hold too little.
  bool is_behind() const { return is_behind_; }
  /// What it would cost, of late, to record all the time and to read that, as the budget counts.
  double cost() const { return cost_; }
  /// How long what ran before a slice needs to end.
  double settling() const { return slicing_.settling(); }
  /// How long what has begun in a slice needs to end.
  double waiting() const { return slicing_.waiting(); }
  /// How long a slice should be, without the time before and after it.
  double length() const;
  /// How long to pause after a slice that took `on`, with all that is around it.
  double pause_after(double on) const;

 private:
  /// Rings that hold more than this need no slices.
  static constexpr double kHoldsAll = 10;

  Slicing slicing_;
  const double budget_, processors_;
  double longest_;  // slice that the rings hold
  bool is_beyond_budget_ = false, is_behind_ = false;
  double cost_ = 0;
  double idle_ = 1;      // part of the machine, of late
  double own_ = 0;       // for the last piece, as far as that counts
  double own_part_ = 0;  // of the machine, of late
};

}  // namespace vprof::driver
