// The HTML report of an iteration: what lies in its directory, put together.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// The file's text. Error: there is no report, or this vprof was built without the page. What else
/// is missing (the profile, the recording, the source) is said in the report.
Result<std::string> make_html(const Session& session, int iteration);

/// Writes `.vprof/report.html` and returns where it is; empty: this vprof has no page.
Result<fs::path> write_html_report(const Session& session);

}  // namespace vprof::driver
