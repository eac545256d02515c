// The HTML report of an iteration, put together from the files of the iteration.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// The text of the page. Error: there is no report, or this vprof was built without the page. If
/// the profile, the recording or the source is missing, the page says so.
Result<std::string> make_html(const Session& session, int iteration);

/// Writes `.vprof/report.html` and returns its path; empty if this vprof was built without the
/// page.
Result<fs::path> write_html_report(const Session& session);

}  // namespace vprof::driver
