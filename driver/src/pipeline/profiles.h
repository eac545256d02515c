// Profile files: the sums of recordings on disk.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"
#include "vprof/support/files.h"

namespace vprof::driver {

/// Reads profiles and adds them up. Each path is a file, or a directory with `profile.vprof` or
/// `.vprof/profile.vprof`. Error: one line that names the file.
Result<analyzer::Profile> read_profiles(const std::vector<std::string>& paths,
                                        const analyzer::Options& options);

}  // namespace vprof::driver
