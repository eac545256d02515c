// The source of the factors, for the HTML report.
#pragma once

#include <vector>

#include "vprof/report/html.h"
#include "workspace/session.h"

namespace vprof::driver {

/// The functions of the first factors, at most 20 texts. If a factor is no function of the program,
/// the lines around the place where it was seen. Missing files are left out.
std::vector<report::SourceText> html_sources(const Session& session,
                                             const analyzer::Profile& profile);

}  // namespace vprof::driver
