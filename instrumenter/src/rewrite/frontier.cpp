#include "vprof/instrumenter/frontier.h"

#include <algorithm>
#include <set>

#include "files/pristine.h"
#include "rewrite/instrumentation.h"
#include "rewrite/results.h"

namespace vprof::instrumenter {

Result<SitesFile> sites_of_frontier(const Program& program, const Plan& plan,
                                    const SitesFile& armed, const std::string& mirror,
                                    const std::string& pristine) {
  auto originals = VPROF_TRY(PristineFiles::open(mirror, pristine));
  const auto read_original = [&](const std::string& file) { return originals.original(file); };
  const auto result = VPROF_TRY(instrument(program, plan, armed.site_ids, read_original));
  SitesFile sites = sites_of(program, plan, result, armed.site_ids);
  std::set<uint32_t> there;
  for (const SitesFile::SiteEntry& site : armed.sites) {
    there.insert(site.id);
  }
  std::erase_if(sites.sites, [&](const SitesFile::SiteEntry& site) {
    if (there.contains(site.id)) {
      return false;
    }
    if (site.parent) {
      sites.unwrapped.push_back({.parent = *site.parent,
                                 .callee = sites.functions.at(site.function - 1).name,
                                 .file = site.file,
                                 .line = site.line,
                                 .column = site.column,
                                 .reason = "not in the armed program",
                                 .by_rule = false});
    }
    return true;
  });
  return sites;
}

}  // namespace vprof::instrumenter
