// Where the loop stands (`state.json`), so that it can be interrupted at any moment and gone on
// with.
#pragma once

#include <string>
#include <vector>

#include "vprof/report/report.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// What is to be done next in the current iteration. Instrumenting and building are repeated after
/// an interruption, which costs little since both change only what must change.
enum class Step : uint8_t { kMeasure, kAnalyze, kDecide, kDone };

/// A factor that was decided on: its key, or its names where there is no key; and how users know
/// it.
struct Decided {
  std::string id;
  std::string name;
  bool operator==(const Decided&) const = default;
};

struct State {
  int iteration = 0;  ///< 0: not begun
  Step step = Step::kMeasure;
  std::string intervals;  ///< fingerprint of intervals, sync and exclude in vprof.json: other
                          ///< intervals, other search
  std::vector<std::string> expanded;  ///< function keys, in the order in which they were expanded
  std::vector<Decided> selected;      ///< accepted as answers
  std::vector<Decided> set_aside;
  std::vector<report::Iteration>
      history;  ///< one per iteration; the last one is filled in step by step
  /// Latencies with all sites off; count 0: not measured, or the source has changed since.
  analyzer::IntervalSummary baseline;
  int baseline_iteration = 0;  ///< in which that was measured
  std::vector<report::Demoted> demoted;
  // The workspace rather than the search; survives `--restart`.
  std::string configured;  ///< fingerprint of the configure command that has succeeded
  std::string
      built;  ///< fingerprint of the mirror of which the whole program was built through the shims
};

/// A state file that is not there is a fresh state. Error: it is damaged.
Result<State> load_state(const Workspace& workspace);
Result<State> load_state(const fs::path& file);
Result<void> save_state(const fs::path& file, const State& state);

/// What a run with all sites off is not compared with any more, and what was left out because of
/// it: the program is another one now.
void forget_overhead(State& state);

/// The state of a new search in a workspace that is built already.
State restarted(const State& state);

}  // namespace vprof::driver
