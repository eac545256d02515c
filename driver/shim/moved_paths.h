// Absolute paths into the source tree. A build that uses them means the mirror: that is where its
// other files are.
#pragma once

#include <string>
#include <vector>

namespace vprof::shim {

/// The arguments with paths of the source tree replaced by those of the mirror, where the mirror
/// has such a file: inputs and directories of headers. Not what the compiler writes, which others
/// expect where it is.
std::vector<std::string> moved_to_mirror(const std::vector<std::string>& arguments,
                                         const std::vector<std::string>& sources,
                                         const std::string& mirror);

}  // namespace vprof::shim
