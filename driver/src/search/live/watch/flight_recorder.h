// The flight recorder: measures all intervals of a program that runs, and keeps the recording of
// the slow ones.
//
//   rings of the program ──copy──▶ a window ──analyse──▶ sums of all intervals ──▶ report
//                                     └── one of them was slow ──▶ .vprof/watch/kept/N
//
// The windows follow each other without gaps, and an interval belongs to the one in which it ends.
// So each is counted once, however long it takes, if the rings still hold its begin.
//
// Where that costs more than the budget, or the rings hold too little, there are slices instead,
// with pauses in between (watch_pace.h). An interval belongs to the slice in which it begins.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/recordings/tables.h"
#include "workspace/session.h"

namespace vprof::driver {

struct WatchOptions {
  std::string attach;       ///< as LiveOptions
  std::string slower_than;  ///< SlowBound
  double budget = -1;       ///< percent; negative: overhead_budget of vprof.json
  uint64_t keep_mb = 1024;  ///< most that the kept recordings may take, MiB
  double seconds = 0;       ///< 0: until Ctrl-C, or the program ends
  bool json = false;        ///< print the final report as JSON
  std::string interval;
  std::vector<std::string> expand;  ///< functions whose calls to measure, instead of the search's
  std::string metrics;              ///< file for Prometheus; empty: none
  TableOptions tables;
};

/// Watches until the time is over, the program ends, or the user presses Ctrl-C. Leaves the report
/// and the profile of all intervals in the workspace, every ten seconds and at the end.
Result<void> watch(Session& session, const WatchOptions& options);

}  // namespace vprof::driver
