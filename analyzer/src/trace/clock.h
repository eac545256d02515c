// Converts the ticks of one process to nanoseconds of CLOCK_MONOTONIC.
//
// Every timestamp is converted and rounded once; all later arithmetic is on these integers. A
// duration is the difference of two converted timestamps, never a converted duration, so adjacent
// stretches of time tile without a gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vprof::analyzer {

/// Piecewise linear through the clock snapshots, and monotonic: a <= b implies to_ns(a) <=
/// to_ns(b).
class Clock {
 public:
  Clock() = default;
  /// `ticks_per_second` applies until there are two snapshots. 0 counts as 1e9.
  Clock(uint64_t start_ticks, uint64_t start_ns, uint64_t ticks_per_second);

  /// Ignores damaged snapshots: those that go backwards, and those with an implausible rate.
  /// Returns whether the snapshot is used.
  bool add_snapshot(uint64_t ticks, uint64_t ns);

  /// A range of ticks, in which conversion is linear and fits into 64 bits. A value, so that loops
  /// over neighbours in time can keep it in registers.
  struct Range {
    uint64_t ticks = 0, span = 0, rate = 0;
    uint64_t fraction = 0;  ///< of `ns`
    int64_t ns = 0;
    /// Ticks since the begin of the range; very large for an earlier time.
    uint64_t offset_of(uint64_t time) const { return time - ticks; }
    bool contains(uint64_t offset) const { return offset < span; }
    int64_t to_ns(uint64_t offset) const {
      return ns + static_cast<int64_t>((offset * rate + fraction) >> kFractionBits);
    }
  };

  int64_t to_ns(uint64_t ticks) const {
    const uint64_t offset = current_.offset_of(ticks);
    return current_.contains(offset) ? current_.to_ns(offset) : find(ticks);
  }
  /// The range of the last conversion.
  const Range& current() const { return current_; }

 private:
  static constexpr int kFractionBits = 32;
  struct Piece {
    int64_t ticks;
    int64_t ns;
    uint64_t rate;  // ns per tick up to the next piece, with 32 fraction bits
  };
  std::vector<Piece> pieces_ = {{0, 0, 1ull << 32}};
  int64_t find(uint64_t ticks) const;
  static Range range_around(const Piece& piece, int64_t ticks, int64_t end_ticks, int64_t end_ns);
  mutable Range current_;  // most conversions are of neighbours in time
};

}  // namespace vprof::analyzer
