// Whether a watch records all the time, or in slices with pauses in between.
#pragma once

#include "search/live/slicing.h"

namespace vprof::driver {

/// All times are in s. Knows nothing about a clock: what it has learnt decides.
///
/// A watch records all the time as long as that costs no more than the budget, and the rings of the
/// program hold what vprof has not yet read. Otherwise it records in slices: as much as the budget
/// allows for, and as the rings hold.
class WatchPace {
 public:
  enum class Start {
    kAllTheTime,
    kMoments,  ///< until it is known what recording costs: it may be many times the budget
  };
  WatchPace(const Slicing::Limits& limits, Start start);

  /// What was recorded in one piece: a slice, or what has come since the window before.
  struct Piece {
    double length = 0;
    double missing = 0;  ///< of that, at its begin: the rings did not hold it any more
    double held = 0;     ///< how far back the rings went when it was copied
    double waited = 0;   ///< after it, for intervals that had not ended
    double patience = 0;
    double reading = 0;      ///< how long that took
    OwnWork::Step own = {};  ///< since the last piece
  };
  void learn(const analyzer::Slice& slice, const Piece& piece);

  bool slices() const {
    return is_beyond_budget() || is_behind_ || longest_ < kHoldsAll || tries();
  }
  /// Only moments are recorded, to find out what it costs.
  bool tries() const { return start_ == Start::kMoments && !slicing_.knows_cost(); }
  /// Why there are slices: recording all the time would cost more than the budget ...
  bool is_beyond_budget() const { return slicing_.is_beyond_budget(); }
  /// ... or to read it takes too long. If neither, the rings hold too little.
  bool is_behind() const { return is_behind_; }
  /// What it would cost, of late, to record all the time and to read that, as the budget counts.
  double cost() const { return slicing_.cost(); }
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
  const Start start_;
  double longest_;  // slice that the rings hold
  bool is_behind_ = false;
};

}  // namespace vprof::driver
