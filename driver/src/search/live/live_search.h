// Iterative refinement of a program while it runs: one build, one run. Algorithm 3 as in the loop,
// but each iteration switches sites instead of building the program and running it anew.
#pragma once

#include <string>

#include "pipeline/own_use/own_processor_time.h"
#include "workspace/session.h"

namespace vprof::driver {

struct LiveOptions {
  bool build = false;      ///< only build the armed program, and say how to start it
  std::string attach;      ///< a process or a trace directory; empty: `run` of vprof.json
  double budget = -1;      ///< percent; negative: overhead_budget of vprof.json
  double most_epoch = 10;  ///< s: when an epoch ends although its factors are not clear
  double least_epoch = 1;  ///< s
  bool restart = false;
  bool json = false;   ///< print the final report as JSON
  bool plain = false;  ///< lines instead of a screen, also at a terminal
  std::string interval;
  std::string metrics;  ///< file for Prometheus; empty: none
};

struct Searched {
  double seconds = 0;  ///< that the search took
  OwnUse own;          ///< of vprof while the program ran
};

/// Runs until no factor that can be broken down contributes enough, the program ends, or the user
/// stops it. Each iteration leaves what one of the loop does, so all verbs that read those work,
/// and the next call goes on from there.
Result<Searched> refine_live(Session& session, const LiveOptions& options);

/// Builds the armed program and makes the trace directory that it is to record into. Returns the
/// directory.
Result<fs::path> prepare_live(Session& session);

}  // namespace vprof::driver
