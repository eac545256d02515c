// The compiler shims: stand-ins for every compiler on PATH, and what they record about the build.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "workspace/session.h"

namespace vprof::driver {

/// Whether a program of this name is a C or C++ compiler for this machine, or a launcher of
/// compilers such as ccache.
bool is_compiler_name(const std::string& name);

/// Fills `.vprof/shims` with a link per compiler on PATH, and `.vprof/runtime` with the runtime
/// library and its headers. Because of the latter, a build's search paths do not include the rest
/// of the prefix where vprof is installed.
Result<void> install_shims(const Session& session);

/// Whether `.vprof/runtime` has the runtime library of this vprof.
bool has_own_runtime(const Session& session);

/// The environment for `configure` and `build`: `extra`, with the shims first on PATH, and the
/// library preloaded that puts them in place of compilers called by their full path. If CC or CXX
/// names a compiler by its full path, it names the shim instead.
std::map<std::string, std::string> build_environment(
    const Locations& locations, const Workspace& workspace,
    const std::map<std::string, std::string>& extra);

}  // namespace vprof::driver
