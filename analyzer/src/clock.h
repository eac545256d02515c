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

  int64_t to_ns(uint64_t ticks) const;

 private:
  struct Piece {
    int64_t ticks;
    int64_t ns;
    uint64_t
        rate;  // ns per tick, fixed point with 32 fraction bits; of the stretch that begins here
  };
  std::vector<Piece> pieces_ = {{0, 0, 1ull << 32}};
  mutable size_t last_ =
      0;  // the piece of the last conversion: neighbours in time are asked for in turn
};

}  // namespace vprof::analyzer
