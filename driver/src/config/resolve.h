// Looks up the names in vprof.json in the program:
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
  std::vector<std::string> roots;     ///< keys of the functions to expand first, sorted
  std::vector<std::string> warnings;  ///< one line each
};

/// The one function of the program that `name` refers to, defined there or in a library. `location`
/// is where the name was written (`vprof.json:12`). Error: no such function (suggests similar
/// names), or several (lists their keys).
Result<const instrumenter::Function*> find_function(const instrumenter::Program& program,
                                                    const std::string& name,
                                                    const std::string& location);

/// The same for a function to be instrumented. Also an error: it has no body, or one that cannot be
/// instrumented.
Result<const instrumenter::Function*> resolve_function(const instrumenter::Program& program,
                                                       const std::string& name,
                                                       const std::string& location);

/// The functions named by `--expand`. A pointer, a virtual method or a macro stands for the
/// functions behind it. Error: as above.
Result<std::vector<std::string>> keys_to_expand(const instrumenter::Program& program,
                                                const std::vector<std::string>& names);

/// The roots are the functions that the intervals name and those that call the annotations.
Result<Targets> resolve(const Config& config, const instrumenter::Program& program);

/// Updates keys of functions after the source was edited: a function that moved gets its new key; a
/// function that is gone is dropped.
std::vector<std::string> follow_edits(const std::vector<std::string>& keys,
                                      const instrumenter::Program& program);

/// A hash of the parts of the configuration that a search depends on: intervals, sync and exclude.
/// If it changes, the search starts over.
std::string fingerprint(const Config& config);

}  // namespace vprof::driver
