// The names in vprof.json, looked up in the program:
//
//   Config + Program ──resolve──▶ Targets {intervals and sync of plan.json, roots of the search}
#pragma once

#include <string>
#include <vector>

#include "config/config.h"
#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::driver {

struct Targets {
  std::vector<instrumenter::IntervalPlan> intervals;  ///< functions by key
  std::vector<instrumenter::SyncPlan> sync;
  std::vector<std::string> roots;     ///< keys of the functions that are expanded first, sorted
  std::vector<std::string> warnings;  ///< one line each
};

/// The one function of the program that `name` means, be it defined there or in a library. `place`
/// is where the name was written (`vprof.json:12`). Error: there is none (with near names), or
/// there are several (with their keys).
Result<const instrumenter::Function*> find_function(const instrumenter::Program& program,
                                                    const std::string& name,
                                                    const std::string& place);

/// The same for a function that is to be instrumented. Error, besides: it has no body that can be.
Result<const instrumenter::Function*> resolve_function(const instrumenter::Program& program,
                                                       const std::string& name,
                                                       const std::string& place);

/// Roots are the functions that the intervals name and those that call the annotations.
Result<Targets> resolve(const Config& config, const instrumenter::Program& program);

/// Keys of functions after the source was edited: a key whose line has moved becomes the function's
/// new key, one whose function is gone is left out.
std::vector<std::string> follow_edits(const std::vector<std::string>& keys,
                                      const instrumenter::Program& program);

/// What must be the same for a search to go on: intervals, sync and exclude of the configuration,
/// as a hash.
std::string fingerprint(const Config& config);

}  // namespace vprof::driver
