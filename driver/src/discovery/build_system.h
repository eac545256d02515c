// Recognises how a source tree is built.
#pragma once

#include <string>

#include "vprof/support/files.h"

namespace vprof::driver {

struct BuildSystem {
  std::string name;  ///< empty: not recognised
  std::string configure, build;
};

/// Goes by the files at the top of the tree. A generated file counts before those that it is
/// usually generated from.
BuildSystem build_system_of(const fs::path& source);

}  // namespace vprof::driver
