// Iterative refinement (dissertation, section 2.3.3.4, Algorithm 3): measure, rank and expand until
// no factor that can be broken down contributes enough.
#pragma once

#include <string>

#include "workspace/session.h"

namespace vprof::driver {

struct LoopOptions {
  bool decide_alone = false;  ///< --auto
  bool resume = false;        ///< the default; accepted so that scripts can say it
  bool restart = false;
  bool keep_traces = false;
  bool json = false;            ///< print the final report as JSON
  int max_iterations = 0;       ///< 0: as in vprof.json
  int from = 0;                 ///< go back to this iteration first; 0: do not
  bool only_measure = false;    ///< one iteration, without a baseline and without decisions
  double stop_after_s = 0;      ///< with `only_measure`: when the workload ends; 0: by itself
  double overhead_budget = -1;  ///< percent; negative: as in vprof.json
  std::string interval;
};

/// Runs iterations until the search ends, the user stops it, or the limit is reached. Each step
/// leaves its state and results on disk, so that the next call resumes there.
Result<void> refine(Session& session, const LoopOptions& options);

}  // namespace vprof::driver
