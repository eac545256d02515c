// Stand-ins for every compiler on PATH, and what they found out about the build.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workspace/locations.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// Whether a program of this name is a C or C++ compiler for this machine, or a compiler cache in
/// front of one.
bool is_compiler_name(const std::string& name);

/// Fills `.vprof/shims` with a link per compiler on PATH and `.vprof/runtime` with links to the
/// runtime and the headers. The latter keeps the search paths of a build free of everything else
/// that lies in the prefix where vprof is installed.
Result<void> install_shims(const Locations& locations, const Workspace& workspace);

/// The environment for `configure` and `build`: `extra`, with the shims first on PATH, and CC and
/// CXX naming shims where they name a compiler by its full path.
std::map<std::string, std::string> build_environment(
    const Workspace& workspace, const std::map<std::string, std::string>& extra);

struct Recorded {
  size_t entries = 0;  ///< in compile_commands.json now
  size_t added = 0;    ///< lines in the log of this build
  size_t damaged = 0;  ///< lines that could not be read
  std::vector<std::string>
      static_links;  ///< programs that were linked statically: the runtime is not in them
};

/// Merges the shims' log into compile_commands.json and empties the log. The last entry for one
/// (file, output) counts; earlier builds' entries stay, since an incremental build compiles only a
/// part; entries whose source is gone (conftest.c) go.
Result<Recorded> collect_compile_commands(const Workspace& workspace);

}  // namespace vprof::driver
