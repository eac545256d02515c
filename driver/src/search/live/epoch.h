// One epoch of a live run: the same sites are on from its begin to its end.
//
//   switch ──▶ settle ──▶ begin ... look ... look ... end
//
// What runs while the sites are switched is in no epoch. So an interval that begins within one has
// passed the same sites as all others there.
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

  fs::path trace_;
  FrontierFile& frontier_;
  Target& target_;
  analyzer::Options options_;
  double settle_s_;  // longer than most intervals take
  bool runs_ = true;
  bool disturbed_ = false;
};

}  // namespace vprof::driver
