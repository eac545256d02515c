// A file of its own, since the header changes with each commit.
#include "cli/version.h"

#include "vprof_version.h"  // generated (cmake/Commit.cmake)

namespace vprof::driver {

const char* version_text() { return VPROF_VERSION_TEXT; }

}  // namespace vprof::driver
