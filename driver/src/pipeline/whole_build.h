// Builds until the program contains everything that was inserted.
//
//   build ──▶ inspect ──▶ all there: done
//     ▲          │
//     ├──────────┤ rewritten files were generated again: index them, rewrite them
//     ├──────────┤ a program was not linked again: delete it
//     └──────────┘ a file was not compiled, or that did not help: delete all that was built, once
#pragma once

#include "pipeline/steps.h"

namespace vprof::driver {

struct WholeBuild {
  double seconds = 0;
  size_t compiled = 0;  ///< files, in all passes
  uint64_t sites = 0;
  bool rewritten = false;  ///< sites.json has changed since instrument_step()
};

/// Builds the mirror as instrument_step() has left it. If files are generated again, `program`,
/// `targets` and the expanded functions of the state follow the new text. Error: the build fails,
/// or goes on losing what was inserted; names the file and what the build does with it.
Result<WholeBuild> whole_build_step(Session& session, instrumenter::Program& program,
                                    Targets& targets, Extent extent);

/// Builds the mirror as it is, instrumented by its last plan, if there is one.
Result<WholeBuild> rebuild_step(Session& session);

/// After a change of the source, when the mirror has it without instrumentation: instruments what
/// the last `vprof instrument` or iteration did. Returns whether there was one.
Result<bool> instrument_again_step(Session& session);

}  // namespace vprof::driver
