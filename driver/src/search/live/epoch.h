// One epoch of a live run: the same sites are on from its begin to its end.
//
//   switch ──▶ settle ──▶ begin ... look ... look ... end ──▶ settle ──▶ switch
//
// An interval belongs to the epoch in which it begins. The same sites stay on until it has ended,
// and those that take longer than the patience of EpochLength are counted as incomplete.
#pragma once

#include <chrono>
#include <functional>

#include "search/live/frontier_file.h"
#include "search/live/target.h"
#include "vprof/report/live_screen.h"
#include "workspace/session.h"

namespace vprof::driver {

/// What somebody who looks at the search wants of the present epoch.
enum class Pace : uint8_t {
  kGoOn,
  kEndEpoch,  ///< it need not be longer than it is, or than the least length
  kStop,      ///< at once
};

/// Somebody who looks at the search while it goes on.
struct EpochHooks {
  /// Called some fifty times a second.
  std::function<Pace()> turn;
  /// A phase begins, or goes on after `passed` seconds. It lasts `most` seconds at most; 0:
  /// unknown.
  std::function<void(report::LivePhase, double passed, double most)> begin;
  /// What the epoch has `seconds` after its begin. Its last intervals have not ended.
  std::function<void(const analyzer::Profile&, double seconds)> look;
};

/// When an epoch ends, s.
struct EpochLength {
  double least = 1;
  double most = 10;
  /// How long to wait for the intervals that have begun in it.
  double patience() const { return most / 5; }
  report::LivePhase phase = report::LivePhase::kMeasuring;
  bool can_be_cut = false;  ///< Pace::kEndEpoch ends it
};

/// Measures in epochs. Sites are off in between.
class Epochs {
 public:
  /// @param hooks nullptr: nobody looks
  Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target,
         const EpochHooks* hooks);

  /// Switches exactly `sites` on, and measures until `enough` says so, which sees what there is
  /// after 1, 2, 4, ... times the least length, or until `length.most`, or until the program ends.
  /// Nothing: no interval was complete, since the program has ended, or vprof was interrupted or
  /// stopped, or a process has switched the sites off (was_disturbed()).
  /// Error: the recording cannot be read.
  Result<std::optional<analyzer::Profile>> measure(
      const std::vector<uint32_t>& sites, const fs::path& sites_json, const EpochLength& length,
      const std::function<bool(const analyzer::Profile&)>& enough);

  /// Of the epoch that was measured last.
  const analyzer::Options& options() const { return options_; }
  /// Whether a process has switched all sites off during that epoch, which is worth nothing then.
  bool was_disturbed() const { return disturbed_; }
  /// How long the last epoch took, s.
  double seconds() const;
  /// Whether anything of the program still runs, and nobody has stopped the search.
  bool goes_on() const { return runs_ && pace_ != Pace::kStop; }

 private:
  struct Looking {
    const fs::path& sites_json;
    const ProcessorTime& processor;
  };

  /// Returns whether the search goes on. Meanwhile somebody may look, and cut the time short.
  bool pass(double seconds, const Looking* looking = nullptr, bool can_be_cut = false);
  void look_meanwhile(const Looking& looking, double left);
  void begin(report::LivePhase phase, double passed, double most);
  /// Analyses the epoch once the intervals that began in it have ended.
  Result<std::optional<analyzer::Profile>> look(const fs::path& sites_json, double patience);

  fs::path trace_;
  FrontierFile& frontier_;
  Target& target_;
  analyzer::Options options_;
  const EpochHooks* hooks_;
  Pace pace_ = Pace::kGoOn;
  double settle_s_;    // longer than most intervals take
  double look_s_ = 0;  // how long the last look of somebody took
  std::chrono::steady_clock::time_point looked_;
  uint64_t interruptions_ = 0;
  bool runs_ = true;
  bool disturbed_ = false;
};

}  // namespace vprof::driver
