// What the rewriter writes beside the mirror, as plain data: sites.json and the summary.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "rewrite/instrumentation.h"
#include "vprof/instrumenter/sites.h"
#include "vprof/instrumenter/summary.h"

namespace vprof::instrumenter {

/// @param known_ids the numbers given by earlier rewrites, which stay assigned
SitesFile sites_of(const Program& program, const Plan& plan, const Instrumentation& result,
                   SiteIds known_ids);

/// The numbers that the driver shows.
Summary summary_of(const Program& program, const Instrumentation& result,
                   std::vector<std::string> files_changed,
                   std::map<std::string, std::string> rewritten);

}  // namespace vprof::instrumenter
