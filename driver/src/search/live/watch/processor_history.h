// What a program has taken of the processors, as it was noted now and then.
//
// A window ends a while before it is read, so its processor time is that of an earlier stretch. A
// program that was stopped, or has only now begun to work, takes another amount of it each second.
#pragma once

#include <cstdint>
#include <deque>

namespace vprof::driver {

/// Times are those of CLOCK_MONOTONIC, ns. Knows nothing about a clock.
class ProcessorHistory {
 public:
  /// @param now not before the last one
  /// @param processor_ns what the program has taken since then
  void note(int64_t now, double processor_ns);
  /// What it has taken between two moments, ns, as if it had worked evenly between two notes, and
  /// not at all before the first and after the last one.
  double between(int64_t from, int64_t to) const;
  /// Nobody asks about earlier times any more.
  void forget_before(int64_t time);

 private:
  double until(int64_t time) const;

  struct Point {
    int64_t time;
    double sum;  // ns, since the first note
  };
  std::deque<Point> points_;
};

}  // namespace vprof::driver
