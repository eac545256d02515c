// How much recording really costs, measured within the run.
//
// What records cost is stated from their number and a calibration (vprof/analyzer/overhead.h). In a
// program they cost more or less than that, by a factor that depends on the machine: on its caches,
// and on what its kernel takes to be asked. A live run knows better. It pauses, and the program
// counts the intervals that it begins in the pauses, too. So what an interval takes with and
// without recording is known, from moments that follow each other.
//
//   counted    |--------|                 |--------|                 |--------|
//   recorded               |--------|                 |--------|
#pragma once

#include <optional>

#include "search/live/target.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::driver {

/// Real cost over stated cost. As a ratio of sums: with x the processor time in a stretch of
/// recording beyond that of as many intervals in the pause before, and p what is stated, Σx / Σp.
/// Its standard error is that of a ratio estimator (Cochran, Sampling Techniques, 1977, section
/// 6.4). Before anything is measured, it is taken to be 1 ± 1, which is worth as much as a
/// measurement with that standard error. It never becomes less than 1. Old stretches count less and
/// less.
class CostFactor {
 public:
  /// A stretch of recording, and the pause before it.
  /// @param stated part of the processor time of `on` that recording has taken, as it is stated
  void learn(const Work& off, const Work& on, double stated);
  /// What to count on where a budget must be kept: two standard errors more than it seems to be.
  double cautious() const;
  /// Into what was recorded: what its records cost.
  void apply(analyzer::Overhead& overhead) const;

 private:
  struct Estimate {
    double mean, error;
  };
  Estimate estimate() const;

  double count_ = 0;
  double beyond_ = 0, stated_ = 0;  // Σx, Σp
  double xx_ = 0, xp_ = 0, pp_ = 0;
};

/// Takes what the program does while recording is on and off in turn.
class Alternation {
 public:
  explicit Alternation(fs::path trace) : trace_(std::move(trace)) {}

  /// Recording begins, or has ended.
  void on() { since_.emplace(trace_); }
  void off() { on_ = taken(); }
  /// A stretch of a pause begins in which intervals are counted (FrontierFile::count()), or has
  /// ended.
  void count() { since_.emplace(trace_); }
  void counted() { off_ = taken(); }
  /// What was recorded between the last on() and off(), of which `overhead` is.
  void learn(const analyzer::Overhead& overhead, CostFactor& factor);

 private:
  Work taken();

  const fs::path trace_;
  std::optional<WorkSince> since_;
  Work on_, off_;  // nothing but once
};

}  // namespace vprof::driver
