#include "vprof/instrumenter/frontier.h"

#include <algorithm>
#include <map>
#include <set>

#include "files/pristine.h"
#include "rewrite/call_sites.h"
#include "rewrite/instrumentation.h"
#include "rewrite/results.h"

namespace vprof::instrumenter {
namespace {

/// A function whose every call has a site has no scope in the armed program. Instead, the sites of
/// these calls are added.
void replace_scopes(const Program& program, const Plan& plan, const SiteIds& armed_ids,
                    const std::set<uint32_t>& there, Instrumentation& result) {
  std::set<uint32_t> known;
  std::set<std::string> without;
  for (const Site& site : result.sites) {
    known.insert(site.id);
    if (site.kind == SiteKind::kFunction && !there.contains(site.id)) {
      without.insert(site.function);
    }
  }
  std::erase_if(result.sites, [&](const Site& site) {
    return site.kind == SiteKind::kFunction && without.contains(site.function);
  });
  std::set<const Function*> callers;
  for (const std::string& key : without) {
    if (const Function* f = program.by_key(key)) {
      const auto more = program.callers(*f);
      callers.insert(more.begin(), more.end());
    }
  }
  CalleeEntries entries(program, plan);
  for (const Function* caller : callers) {
    const CallSites calls = call_sites_of(program, plan, entries, *caller);
    for (const CallSites::Wrapped& wrapped : calls.wrapped) {
      const auto id = armed_ids.find(site_identity(wrapped.site));
      if (without.contains(wrapped.site.function) && id != armed_ids.end() &&
          there.contains(id->second) && known.insert(id->second).second) {
        result.sites.push_back(wrapped.site);
        result.sites.back().id = id->second;
      }
    }
  }
  std::ranges::sort(result.sites, {}, &Site::id);
}

}  // namespace

Result<SitesFile> sites_of_frontier(const Program& program, const Plan& plan,
                                    const SitesFile& armed, const std::string& mirror,
                                    const std::string& pristine) {
  auto originals = VPROF_TRY(PristineFiles::open(mirror, pristine));
  const auto read_original = [&](const std::string& file) { return originals.original(file); };
  std::set<uint32_t> there;
  for (const SitesFile::SiteEntry& site : armed.sites) {
    there.insert(site.id);
  }
  auto result = VPROF_TRY(instrument(program, plan, armed.site_ids, read_original));
  replace_scopes(program, plan, armed.site_ids, there, result);
  SitesFile sites = sites_of(program, plan, result, armed.site_ids);
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

std::vector<uint32_t> numbers_to_switch_on(const SitesFile& frontier, const SitesFile& armed) {
  std::map<uint32_t, std::vector<uint32_t>> gates;
  for (const SitesFile::SiteEntry& site : armed.sites) {
    if (site.gate != 0) {
      gates[site.gate] = {site.gate};
    }
  }
  for (const SitesFile::GateEntry& gate : armed.gates) {
    gates[gate.id] = gate.open;
  }
  std::map<uint32_t, uint32_t> gate_of;
  for (const SitesFile::SiteEntry& site : armed.sites) {
    gate_of.emplace(site.id, site.gate);
  }
  std::set<uint32_t> on;
  for (const SitesFile::SiteEntry& site : frontier.sites) {
    on.insert(site.id);
    const std::vector<uint32_t>& open = gates[gate_of[site.id]];
    on.insert(open.begin(), open.end());
  }
  return {on.begin(), on.end()};
}

}  // namespace vprof::instrumenter
