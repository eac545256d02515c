// Iterative refinement (dissertation 2.3.3.4, Algorithm 3): measure, rank, expand, until nothing
// that can be expanded contributes enough.
#pragma once

#include <string>

#include "workspace/session.h"

namespace vprof::driver {

struct LoopOptions {
  bool decide_alone = false;  ///< --auto
  bool resume = false;        ///< the default; may be given to be explicit
  bool restart = false;
  bool keep_traces = false;
  bool json = false;            ///< print the final report as JSON
  int max_iterations = 0;       ///< 0: as in vprof.json
  int from = 0;                 ///< iteration to go back to first; 0: none
  double overhead_budget = -1;  ///< percent; negative: as in vprof.json
  std::string interval;
};

/// Runs iterations until the search ends, the user stops it, or the limit is reached. State and
/// reports are on disk after each step, so that the next call continues from there.
Result<void> refine(Session& session, const LoopOptions& options);

}  // namespace vprof::driver
