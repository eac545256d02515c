#include "search/live/watch_pace.h"

#include <algorithm>
#include <limits>

namespace vprof::driver {

namespace {

/// Of the budget, for reading what was recorded. Slices aim at four fifths of a budget.
constexpr double kForReading = 0.4;
constexpr double kForRecording = 0.75;
/// What fits into the rings once need not do so again.
constexpr double kOfRings = 0.5;
constexpr double kGrowth = 1.1;
/// To read takes at most this part of what is read, or vprof falls behind sooner or later. Less,
/// and it keeps up again.
constexpr double kMostReading = 0.5, kLeastReading = 0.25;
/// A slice that only has to be read, s.
constexpr double kReadableSlice = 1;

}  // namespace

WatchPace::WatchPace(double budget, double processors, double period)
    : slicing_(budget, period),
      own_part_(kForReading * budget * processors),
      longest_(std::numeric_limits<double>::infinity()) {}

void WatchPace::learn(const analyzer::Slice& slice, const Piece& piece) {
  slicing_.learn(slice, {.recorded = piece.length,
                         .waited = piece.waited,
                         .patience = piece.patience,
                         .reading = 0});
  is_behind_ = piece.reading > (is_behind_ ? kLeastReading : kMostReading) * piece.length;
  longest_ = piece.missing > 0 ? kOfRings * piece.held : kGrowth * longest_;
  own_ = piece.own;
}

double WatchPace::length() const {
  return std::min(is_beyond_budget() ? slicing_.length() : kReadableSlice, longest_);
}

double WatchPace::pause_after(double on) const {
  if (!is_beyond_budget()) {
    return 0;
  }
  const double for_recording = (on + slicing_.pause_after(on)) / kForRecording;
  return std::max(for_recording, own_ / own_part_) - on;
}

}  // namespace vprof::driver
