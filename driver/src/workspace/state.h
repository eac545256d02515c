// Where the search stands (`state.json`), so that it can be interrupted and resumed at any moment.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "vprof/report/report.h"
#include "workspace/decisions.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// The next step of the current iteration. kMeasure covers instrumenting, building and running: an
/// interruption repeats all three, which is cheap because the first two only redo what changed.
enum class Step : uint8_t { kMeasure, kAnalyze, kDecide, kDone };

/// Latencies and processor time with all sites off.
struct Baseline {
  int iteration = 0;   ///< that measured it
  uint64_t count = 0;  ///< 0: not measured, or the source has changed since
  double mean_ns = 0;
  std::array<double, 2> mean_ci95{};
  double p50_ns = 0;
  double variance_ns2 = 0;
  double processor_ns = 0;  ///< of the program and the helper, per interval; 0: unknown
  double run_s = 0;         ///< how long the workload took; 0: unknown
  std::string command;      ///< the workload
};

Baseline baseline_of(const analyzer::Profile& profile, int iteration);

/// Fills in what `profile` says about the baseline. Leaves it as it is if there is none.
void compare_with(const Baseline& baseline, analyzer::Profile& profile);

struct State {
  int iteration = 0;  ///< from 1; 0: the search has not begun
  Step step = Step::kMeasure;
  /// Fingerprint of `intervals`, `sync` and `exclude` in vprof.json. If it changes, the search
  /// starts over.
  std::string intervals;
  std::vector<std::string> expanded;    ///< function keys, in the order of their expansion
  std::vector<DecidedFactor> selected;  ///< accepted as answers
  std::vector<DecidedFactor> set_aside;
  /// One entry per iteration. The steps fill in the last one.
  std::vector<report::Iteration> history;
  Baseline baseline;
  std::vector<report::Demoted> demoted;

  // What follows describes the workspace rather than the search; restarted() keeps it.

  /// Where the mirror was made: the directory of vprof.json without links. What was built in it has
  /// absolute paths of that place. Empty: not known.
  std::string place;
  /// Fingerprint of the last configure command that succeeded.
  std::string configured;
  /// Fingerprint of the mirror at the last whole build through the shims.
  std::string built;
};

/// A missing file is a fresh state. Error: the file is damaged.
Result<State> load_state(const fs::path& file);
Result<void> save_state(const fs::path& file, const State& state);

/// Adds the functions that are not expanded yet and returns their keys.
std::vector<std::string> expand(State& state, const std::vector<std::string>& keys);

/// Drops the baseline and the demoted call sites: the program they were measured on has changed.
void forget_overhead(State& state);

/// The state of a new search in a workspace that is built already.
State restarted(const State& state);

/// Whether a function needs no expansion any more: it is expanded, or its calls are left out of the
/// plan because they are too many within one interval.
bool is_settled(const State& state, const std::string& key);

/// Sets the status of the factors that were accepted or set aside.
void mark_decisions(analyzer::Profile& profile, const State& state);

}  // namespace vprof::driver
