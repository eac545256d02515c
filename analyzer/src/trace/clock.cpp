#include "trace/clock.h"

#include <algorithm>

namespace vprof::analyzer {
namespace {

/// Larger words come from damage: no clock of a real machine gets there.
constexpr int64_t kMaxTime = int64_t{1} << 60;

using Int128 = __int128;

int64_t clamp_time(Int128 value) {
  return static_cast<int64_t>(std::clamp<Int128>(value, -kMaxTime, kMaxTime));
}

int64_t clamp_word(uint64_t word) {
  return static_cast<int64_t>(std::min<uint64_t>(word, static_cast<uint64_t>(kMaxTime)));
}

}  // namespace

Clock::Clock(uint64_t start_ticks, uint64_t start_ns, uint64_t ticks_per_second) {
  const uint64_t frequency = ticks_per_second == 0 ? 1'000'000'000 : ticks_per_second;
  const auto rate = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(1'000'000'000) << kFractionBits) / frequency);
  pieces_ = {{clamp_word(start_ticks), clamp_word(start_ns), rate}};
}

bool Clock::add_snapshot(uint64_t ticks, uint64_t ns) {
  current_ = {};
  Piece& previous = pieces_.back();
  const Piece next{clamp_word(ticks), clamp_word(ns), previous.rate};
  if (next.ticks <= previous.ticks || next.ns <= previous.ns) {
    return false;
  }
  const auto rate = static_cast<uint64_t>(
      (static_cast<unsigned __int128>(next.ns - previous.ns) << kFractionBits) /
      static_cast<unsigned __int128>(next.ticks - previous.ticks));
  // Snapshots are exact to a few microseconds, so two close ones give no usable rate. Two distant
  // ones with a rate far from the estimate contain a damaged word.
  if (rate / 2 > previous.rate || rate < previous.rate / 2) {
    return false;
  }
  previous.rate = rate;
  pieces_.push_back({next.ticks, next.ns, rate});
  return true;
}

int64_t Clock::find(uint64_t ticks_word) const {
  const int64_t ticks = clamp_word(ticks_word);
  const auto after =
      std::upper_bound(pieces_.begin(), pieces_.end(), ticks,
                       [](int64_t t, const Piece& piece) { return t < piece.ticks; });
  const size_t i = after == pieces_.begin() ? 0 : static_cast<size_t>(after - pieces_.begin()) - 1;
  const Piece& piece = pieces_[i];
  // A rounded rate must not carry this piece past the beginning of the next one.
  const bool last = i + 1 == pieces_.size();
  const int64_t end_ns = last ? kMaxTime : pieces_[i + 1].ns;
  const int64_t end_ticks = last ? kMaxTime : pieces_[i + 1].ticks;
  const Int128 offset =
      (static_cast<Int128>(ticks - piece.ticks) * static_cast<Int128>(piece.rate)) >> kFractionBits;
  const int64_t ns = std::min(clamp_time(piece.ns + offset), end_ns);
  if (ticks >= piece.ticks && ns < end_ns) {
    current_ = range_around(piece, ticks, end_ticks, end_ns);
  }
  return ns;
}

/// The range around an instant within a piece, up to where the next piece begins in ticks or in ns.
Clock::Range Clock::range_around(const Piece& piece, int64_t ticks, int64_t end_ticks,
                                 int64_t end_ns) {
  const uint64_t rate = std::max<uint64_t>(1, piece.rate);
  const uint64_t longest = std::max<uint64_t>(1, (UINT64_MAX >> 1) / rate);
  const uint64_t begin = static_cast<uint64_t>(ticks - piece.ticks) / longest * longest;
  const auto passed = static_cast<unsigned __int128>(begin) * piece.rate;
  Range range;
  range.ticks = static_cast<uint64_t>(piece.ticks) + begin;
  range.rate = piece.rate;
  range.fraction = static_cast<uint32_t>(passed);
  range.ns = piece.ns + static_cast<int64_t>(passed >> kFractionBits);
  const auto ns_left = static_cast<unsigned __int128>(end_ns - range.ns) << kFractionBits;
  range.span = std::min({longest, static_cast<uint64_t>(end_ticks) - range.ticks,
                         static_cast<uint64_t>((ns_left - range.fraction) / rate)});
  return range;
}

}  // namespace vprof::analyzer
