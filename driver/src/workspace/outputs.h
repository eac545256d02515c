// Files of the source tree that vprof's own output goes to: `vprof loop > log`, `vprof report | tee
// report.txt`, `vprof export --csv out.csv`. They are no part of the program. If they counted as
// its source, each run would find that the source has changed.
#pragma once

#include <set>
#include <string>

#include "workspace/workspace.h"

namespace vprof::driver {

/// Remembers the files that standard output and standard error go to, also through a pipe to a
/// program such as `tee`. Does nothing before there is a `.vprof`.
void remember_outputs(const Workspace& workspace, const fs::path& source);

/// Remembers a file that a verb writes.
void remember_output(const Workspace& workspace, const fs::path& source, const fs::path& file);

/// All that were remembered, relative to the source tree.
std::set<std::string> outputs(const Workspace& workspace);

}  // namespace vprof::driver
