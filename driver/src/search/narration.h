// What the loop tells the user while it runs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/steps.h"
#include "workspace/session.h"

namespace vprof::driver {

/// What an iteration measures that the one before did not.
struct Expansion {
  /// The factors that are broken down, in words; empty: the functions of the current iteration.
  std::vector<std::string> of;
  size_t ahead = 0;                   ///< functions below them that are expanded at the same time
  std::optional<uint64_t> new_calls;  ///< call sites; nothing if it is not known
};

/// `expanding f with 2 functions below; 41 new call sites; leaving out 2 call sites; rebuilding 3
/// files`, and how many calls are measured.
void say_instrumented(const report::Iteration& current, const Instrumented& instrumented,
                      const Expansion& expansion);

/// The figure that lists of factors show: the share if they are ranked by it, else the weight.
double leading_share(const analyzer::Factor& factor, analyzer::Ranking ranking);

/// What runs now, and how it ends: a workload that need not end by itself.
void say_stoppable(const WorkloadRun& run);

/// The latency, and the first k factors.
void say_measured(const analyzer::Profile& profile);

/// Why the search ends: `done after iteration 3: ...`. A factor that can be broken down may still
/// be large, if what is measured below it explains it.
std::string nothing_left(int iteration, double threshold);

}  // namespace vprof::driver
