// One epoch of a live run: the same sites are on whenever anything is recorded.
//
//   switch ──▶ settle ──▶ begin ... look ... look ... end ──▶ settle ──▶ pause
//
// An interval belongs to the epoch in which it begins. The same sites stay on until it has ended,
// and those that take longer than the patience of EpochLength are counted as incomplete.
//
// If recording costs more than the budget, the epoch is recorded in slices, with pauses in between:
//
//   recording  |--|------|---|............|--|------|---|............|--|------|---|
//            settle slice wait   pause
//
// Each second then has its slices, so that what the program does in the course of an epoch is seen.
// Slice and pause follow from the cost of the slices before (slicing.h).
#pragma once

#include <chrono>
#include <functional>

#include "search/live/cost_factor.h"
#include "search/live/frontier_file.h"
#include "search/live/slicing.h"
#include "search/live/target.h"
#include "vprof/analyzer/epoch_sums.h"
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

/// What an epoch has so far.
enum class Verdict : uint8_t {
  kGoOn,
  kVague,  ///< what may be chance could change the answer
  kEnough,
};

/// When an epoch ends, s. Pauses count.
struct EpochLength {
  double least = 1;
  double most = 10;
  /// For so long if it cannot tell what may be chance: its verdict is vague, or there are few
  /// intervals, and they are in few slices.
  double longest = most;
  static constexpr uint64_t kFewIntervals = 1000;
  static constexpr int kFewSlices = 6;
  /// When it ends at the latest. `slices`: 0 if recording does not pause.
  double end(int slices, uint64_t intervals, Verdict verdict = Verdict::kGoOn) const {
    const bool few = slices != 0 && slices < kFewSlices && intervals < kFewIntervals;
    return few || verdict == Verdict::kVague ? longest : most;
  }
  /// How long to wait for the intervals that have begun in it.
  double patience() const { return most / 5; }
  report::LivePhase phase = report::LivePhase::kMeasuring;
  bool can_be_cut = false;  ///< Pace::kEndEpoch ends it
};

/// Measures in epochs. Nothing is recorded in between.
class Epochs {
 public:
  /// @param hooks nullptr: nobody looks
  Epochs(const Session& session, fs::path trace, FrontierFile& frontier, Target& target,
         const EpochHooks* hooks);

  /// Switches exactly `sites` on, and measures until `judge` has enough, which sees what there is
  /// after 1, 2, 4, ... times the least length, or until `length.end()`, or until the program ends.
  /// Nothing: no interval was complete, since the program has ended, or vprof was interrupted or
  /// stopped, or a process has switched the sites off (was_disturbed()).
  /// Error: the recording cannot be read.
  Result<std::optional<analyzer::Profile>> measure(
      const std::vector<uint32_t>& sites, const fs::path& sites_json, const EpochLength& length,
      const std::function<Verdict(const analyzer::Profile&)>& judge);

  /// Of the epoch that was measured last, from its begin to its end.
  analyzer::Options options() const;
  /// Whether a process has switched all sites off during that epoch, which is worth nothing then.
  bool was_disturbed() const { return disturbed_; }
  /// How long the last epoch has recorded, s.
  double seconds() const { return measured_s_ + open_s_; }
  /// Whether anything of the program still runs, and nobody has stopped the search.
  bool goes_on() const { return runs_ && pace_ != Pace::kStop; }

 private:
  /// Returns whether the search goes on. Meanwhile somebody may look, and cut the time short.
  bool pass(double seconds, analyzer::EpochSums* looking = nullptr, bool can_be_cut = false);
  void look_meanwhile(analyzer::EpochSums& sums, double left);
  double processor_ns() const;
  void begin(report::LivePhase phase, double passed, double most);
  void begin_slice();
  void pause();
  /// Nothing is recorded for so long, s. In the first `counted` of it, intervals are counted, if
  /// there is so much.
  void rest(double seconds, double counted, bool can_be_cut);
  double slice_length(double until_look, double until_end) const;
  /// Records for so long, waits until the intervals that have begun meanwhile have ended, and
  /// analyses what there is. Error: the recording cannot be read.
  Result<analyzer::Slice> measure_slice(analyzer::EpochSums& sums, double seconds,
                                        const EpochLength& length, bool can_be_cut);
  Result<analyzer::Slice> look(analyzer::EpochSums& sums);
  void see(const analyzer::Profile& profile, const EpochLength& length);

  const fs::path trace_;
  FrontierFile& frontier_;
  Target& target_;
  analyzer::Options options_;  // the slice's
  const EpochHooks* hooks_;
  Pace pace_ = Pace::kGoOn;
  const double budget_;
  Slicing slicing_;
  std::vector<uint32_t> sites_;             // that were on last
  bool recording_ = false;                  // since options_.epoch.recorded_since
  bool is_open_ = false;                    // the slice goes on if recording does
  int64_t from_ = 0;                        // the epoch
  WorkSince work_{trace_}, after_{trace_};  // since the slice began, and since it ended
  Alternation alternation_{trace_};
  CostFactor cost_factor_;
  OwnWork own_;
  int slices_ = 0;          // of the epoch that were closed
  uint64_t intervals_ = 0;  // in these
  double measured_s_ = 0;
  double open_s_ = 0, on_s_ = 0;
  double look_s_ = 0;  // how long the last look of somebody took
  std::chrono::steady_clock::time_point looked_;
  uint64_t interruptions_ = 0;
  bool runs_ = true;
  bool disturbed_ = false;
};

}  // namespace vprof::driver
