// Which vprof this is.
#pragma once

namespace vprof::driver {

/// `0.1.0 (commit 0123abcdef)`; without the commit where it is not known.
const char* version_text();

}  // namespace vprof::driver
