// The source of the factors, for the HTML report.
#pragma once

#include "vprof/report/html.h"
#include "workspace/session.h"

namespace vprof::driver {

/// Adds the functions of the factors, at most 40, with what the recording of the iteration says
/// about their calls. A factor that is no function of the program, such as a wait, is shown by the
/// function around its largest place, or a few lines if there is none. What is missing is said in
/// the notes.
void add_sources(const Session& session, int iteration, report::HtmlReport& page);

}  // namespace vprof::driver
