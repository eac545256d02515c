// The compiler shims: stand-ins for every compiler on PATH, and what they record about the build.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workspace/locations.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// Whether a program of this name is a C or C++ compiler for this machine, or a launcher of
/// compilers such as ccache.
bool is_compiler_name(const std::string& name);

/// Fills `.vprof/shims` with a link per compiler on PATH, and `.vprof/runtime` with links to the
/// runtime library and its headers. Because of the latter, a build's search paths do not include
/// the rest of the prefix where vprof is installed.
Result<void> install_shims(const Locations& locations, const Workspace& workspace);

/// The environment for `configure` and `build`: `extra`, with the shims first on PATH. If CC or CXX
/// names a compiler by its full path, it names the shim instead.
std::map<std::string, std::string> build_environment(
    const Workspace& workspace, const std::map<std::string, std::string>& extra);

struct Recorded {
  size_t entries = 0;  ///< in compile_commands.json now
  size_t added = 0;    ///< compilations in the log of this build
  size_t damaged = 0;  ///< lines that could not be read
  /// Programs that were linked statically and therefore do not contain the runtime.
  std::vector<std::string> static_links;
};

/// Merges the shims' log into compile_commands.json and deletes the log. For one file and output,
/// the last entry wins. Entries of earlier builds stay, because an incremental build compiles only
/// some files. Entries whose source no longer exists (conftest.c) are removed.
Result<Recorded> collect_compile_commands(const Workspace& workspace);

}  // namespace vprof::driver
