#include "search/live/watch/watch_pace.h"

#include <algorithm>
#include <limits>

namespace vprof::driver {

namespace {

/// What fits into the rings once need not do so again.
constexpr double kOfRings = 0.5;
constexpr double kGrowth = 1.1;
/// To read takes at most this part of what is read, or vprof falls behind sooner or later. Less,
/// and it keeps up again.
constexpr double kMostReading = 0.5, kLeastReading = 0.25;
/// A slice that only has to be read, s.
constexpr double kReadableSlice = 1;

}  // namespace

WatchPace::WatchPace(const Slicing::Limits& limits, Start start)
    : slicing_(limits), start_(start), longest_(std::numeric_limits<double>::infinity()) {}

void WatchPace::learn(const analyzer::Slice& slice, const Piece& piece) {
  slicing_.learn(slice, {.recorded = piece.length,
                         .waited = piece.waited,
                         .patience = piece.patience,
                         .own = piece.own});
  is_behind_ = piece.reading > (is_behind_ ? kLeastReading : kMostReading) * piece.length;
  longest_ = piece.missing > 0 ? kOfRings * piece.held : kGrowth * longest_;
}

double WatchPace::length() const {
  return std::min({slicing_.knows_cost() || tries() ? slicing_.length() : kReadableSlice,
                   kReadableSlice, longest_});
}

double WatchPace::pause_after(double on) const {
  return is_beyond_budget() ? slicing_.pause_after(on) : 0;
}

}  // namespace vprof::driver
