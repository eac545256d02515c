// What the rewriter writes beside the mirror: sites.json and the summary (docs/formats.md).
#pragma once

#include <string>
#include <vector>

#include "rewrite/instrumentation.h"
#include "vprof/instrumenter/summary.h"

namespace vprof::instrumenter {

/// Ids of the sites in an existing sites.json. A missing or damaged file has none.
SiteIds load_site_ids(const std::string& path);

/// Writes sites.json.
Result<void> save_sites(const Program& program, const Plan& plan, const Instrumentation& result,
                        const std::string& path);

/// The numbers that the driver shows.
Summary summary_of(const Program& program, const Instrumentation& result,
                   std::vector<std::string> files_changed);

}  // namespace vprof::instrumenter
