#pragma once

#include <string>

#include "rewrite/instrumentation.h"

namespace vprof::instrumenter {

/// Ids of the sites in an existing sites.json; empty if there is none.
SiteIds load_site_ids(const std::string& path);

/// Writes sites.json (docs/formats.md).
Result<void> save_sites(const Program& program, const Plan& plan, const Instrumentation& result,
                        const std::string& path);

/// Writes the summary that the driver shows.
Result<void> save_summary(const Program& program, const Instrumentation& result,
                          const std::vector<std::string>& files_changed, const std::string& path);

}  // namespace vprof::instrumenter
