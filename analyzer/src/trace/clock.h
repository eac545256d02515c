// Ticks of one process to nanoseconds of CLOCK_MONOTONIC.
//
// Every timestamp is converted and rounded once; all later arithmetic is on these integers.
// Durations are differences of converted timestamps, never converted durations, so that adjacent
// stretches of time tile without a gap.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vprof::analyzer {

/// Piecewise linear through the clock snapshots. Monotonic: a <= b implies to_ns(a) <= to_ns(b).
class Clock {
 public:
  Clock() = default;
  /// `ticks_per_second` is used until there are two snapshots. 0 counts as 1e9.
  Clock(uint64_t start_ticks, uint64_t start_ns, uint64_t ticks_per_second);

  /// Snapshots that go backwards, or whose rate is out of all proportion (damage), are left out.
  /// Returns whether it was used.
  bool add_snapshot(uint64_t ticks, uint64_t ns);

  /// A linear piece, or a part of it that is short enough to be converted in 64 bits; by value: for
  /// loops that convert neighbours in time by the thousand.
  struct Stretch {
    uint64_t ticks = 0, span = 0, rate = 0;
    uint64_t fraction = 0;  ///< of `ns`, what is beyond the point
    int64_t ns = 0;
    /// Something large of a time before the stretch.
    uint64_t since(uint64_t time) const { return time - ticks; }
    bool holds(uint64_t since) const { return since < span; }
    int64_t to_ns(uint64_t since) const {
      return ns + static_cast<int64_t>((since * rate + fraction) >> kFractionBits);
    }
  };

  int64_t to_ns(uint64_t ticks) const {
    const uint64_t since = current_.since(ticks);
    return current_.holds(since) ? current_.to_ns(since) : find(ticks);
  }
  /// The stretch of the last conversion.
  const Stretch& current() const { return current_; }

 private:
  static constexpr int kFractionBits = 32;
  struct Piece {
    int64_t ticks;
    int64_t ns;
    uint64_t
        rate;  // ns per tick, fixed point with 32 fraction bits; of the stretch that begins here
  };
  std::vector<Piece> pieces_ = {{0, 0, 1ull << 32}};
  int64_t find(uint64_t ticks) const;
  static Stretch stretch_of(const Piece& piece, int64_t ticks, int64_t end_ticks, int64_t end_ns);
  mutable Stretch current_;  // neighbours in time are asked for in turn
};

}  // namespace vprof::analyzer
