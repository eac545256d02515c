// Compares what the rewriter wrote with what a build has made of it:
//
//   summary.json   ──▶ is each rewritten file still as it was written?   regenerated
//   objects        ──▶ was each unit that reads one compiled since?      gaps
//   linked files   ──▶ do they contain the text that there is now?       gaps, unlinked
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "vprof/instrumenter/summary.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// A place where the built program does not have what was inserted.
struct Gap {
  std::string file;  ///< relative to the mirror
  std::string what;  ///< one line: what the build did not do, with the object or program
  fs::path program;  ///< that was not linked again, absolute; empty: the file was not compiled
};

struct Inspection {
  /// Rewritten files that the build has written anew or deleted, and a hash of what is there now.
  std::vector<std::pair<std::string, std::string>> regenerated;
  std::vector<Gap> gaps;
  /// Rewritten units that were compiled but are in no program or library.
  std::vector<std::string> unlinked;
};

/// `program` is the index that `summary` was made from. Error: a file of the workspace is damaged.
Result<Inspection> inspect_build(const Workspace& workspace, const instrumenter::Program& program,
                                 const instrumenter::Summary& summary);

}  // namespace vprof::driver
