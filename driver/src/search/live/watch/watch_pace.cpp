#include "search/live/watch/watch_pace.h"

#include <algorithm>
#include <limits>

#include "vprof/analyzer/overhead.h"

namespace vprof::driver {

namespace {

/// Of the budget, for reading what was recorded. Slices aim at four fifths of a budget.
constexpr double kForReading = 0.4;
constexpr double kForRecording = 0.75;
/// Where so much of the machine is idle, to read is free. Where less is, it takes time from the
/// program now and then.
constexpr double kIdle = 0.5;
/// Reports take processor time every ten seconds, so this is an average over some pieces.
constexpr double kPieces = 8;
/// What was beyond the budget is within it again at this part of it.
constexpr double kWithin = 0.8;
/// What fits into the rings once need not do so again.
constexpr double kOfRings = 0.5;
constexpr double kGrowth = 1.1;
/// To read takes at most this part of what is read, or vprof falls behind sooner or later. Less,
/// and it keeps up again.
constexpr double kMostReading = 0.5, kLeastReading = 0.25;
/// A slice is at least so long, s: it takes 2 ms to settle.
constexpr double kShortest = 0.001;
/// A slice that only has to be read, s.
constexpr double kReadableSlice = 1;

}  // namespace

WatchPace::WatchPace(double budget, double processors, double period)
    : slicing_(budget, period),
      budget_(budget),
      processors_(processors),
      longest_(std::numeric_limits<double>::infinity()) {}

void WatchPace::learn(const analyzer::Slice& slice, const Piece& piece) {
  slicing_.learn(
      slice,
      {.recorded = piece.length, .waited = piece.waited, .patience = piece.patience, .reading = 0});
  idle_ = (idle_ + piece.idle) / 2;
  own_ = piece.own * std::max(0.0, 1 - idle_ / kIdle);
  const double own_part = own_ / (processors_ * std::max(piece.length, kShortest));
  own_part_ += (own_part - own_part_) / kPieces;
  cost_ = analyzer::program_cost(slice.overhead) + own_part_;
  is_beyond_budget_ = (slicing_.knows_cost() && slicing_.pauses()) ||
                      cost_ > (is_beyond_budget_ ? kWithin : 1) * budget_;
  is_behind_ = piece.reading > (is_behind_ ? kLeastReading : kMostReading) * piece.length;
  longest_ = piece.missing > 0 ? kOfRings * piece.held : kGrowth * longest_;
}

double WatchPace::length() const {
  return std::min(
      {slicing_.knows_cost() ? slicing_.length() : kReadableSlice, kReadableSlice, longest_});
}

double WatchPace::pause_after(double on) const {
  if (!is_beyond_budget_) {
    return 0;
  }
  const double for_recording = (on + slicing_.pause_after(on)) / kForRecording;
  return std::max(for_recording, own_ / (kForReading * budget_ * processors_)) - on;
}

}  // namespace vprof::driver
