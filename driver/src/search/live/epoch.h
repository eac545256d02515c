// One epoch of a live run: the same sites are on from its begin to its end.
//
//   switch ──▶ settle ──▶ begin ... look ... look ... end ──▶ settle ──▶ switch
//
// An interval belongs to the epoch in which it begins. The same sites stay on until it has ended,
// and those that take longer than the patience of EpochLength are counted as incomplete.
#pragma once

#include <functional>

#include "search/live/frontier_file.h"
#include "search/live/target.h"
#include "workspace/session.h"

namespace vprof::driver {

/// When an epoch ends, s.
struct EpochLength {
  double least = 1;
  double most = 10;
  /// How long to wait for the intervals that have begun in it.
  double patience() const { return most / 5; }
};

/// Measures in epochs. Sites are off in between.
class Epochs {
 public:
  Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target);

  /// Switches exactly `sites` on, and measures until `enough` says so, which sees what there is
  /// after 1, 2, 4, ... times the least length, or until `length.most`, or until the program ends.
  /// Nothing: no interval was complete, since the program has ended, or vprof was interrupted, or a
  /// process has switched the sites off (was_disturbed()).
  /// Error: the recording cannot be read.
  Result<std::optional<analyzer::Profile>> measure(
      const std::vector<uint32_t>& sites, const fs::path& sites_json, const EpochLength& length,
      const std::function<bool(const analyzer::Profile&)>& enough);

  /// Of the epoch that was measured last.
  const analyzer::Options& options() const { return options_; }
  /// Whether a process has switched all sites off during that epoch, which is worth nothing then.
  bool was_disturbed() const { return disturbed_; }
  /// Whether anything of the program still runs.
  bool runs() const { return runs_; }

 private:
  /// Returns whether the program still runs.
  bool pass(double seconds);
  /// Analyses the epoch once the intervals that began in it have ended.
  Result<std::optional<analyzer::Profile>> look(const fs::path& sites_json, double patience);

  fs::path trace_;
  FrontierFile& frontier_;
  Target& target_;
  analyzer::Options options_;
  double settle_s_;  // longer than most intervals take
  uint64_t interruptions_ = 0;
  bool runs_ = true;
  bool disturbed_ = false;
};

}  // namespace vprof::driver
