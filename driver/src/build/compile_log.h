// What the shims recorded about a build.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workspace/workspace.h"

namespace vprof::driver {

struct Recorded {
  size_t entries = 0;  ///< in compile_commands.json now
  size_t added = 0;    ///< compilations in the log of this build
  size_t damaged = 0;  ///< lines that could not be read
  /// Names of programs that this build linked statically, and that therefore do not contain the
  /// runtime.
  std::vector<std::string> static_links;
  bool all_static = false;  ///< everything that was linked in this mirror so far
};

/// Programs and libraries, with the objects and archives that the link named; absolute paths.
using LinkedFiles = std::map<std::string, std::vector<std::string>>;

/// What builds have linked and still exists.
LinkedFiles linked_files(const Workspace& workspace);

/// Names of the programs in the mirror that are linked statically.
std::vector<std::string> static_programs(const Workspace& workspace);

/// Merges the shims' log into compile_commands.json and deletes the log. For one file and output,
/// the last entry wins. Entries of earlier builds stay, because an incremental build compiles only
/// some files. Entries whose source no longer exists (conftest.c) are removed.
Result<Recorded> collect_compile_commands(const Workspace& workspace);

}  // namespace vprof::driver
