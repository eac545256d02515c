// The source of factors, for reports that show it.
#pragma once

#include <vector>

#include "vprof/report/html.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The functions of the first factors (up to 20 texts), as in the source tree; where a factor is no
/// function of the program, the lines around the place where it was seen. What is not there is left
/// out.
std::vector<report::SourceText> source_texts(const Session& session,
                                             const analyzer::Profile& profile);

}  // namespace vprof::driver
