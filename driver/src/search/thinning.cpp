#include "search/thinning.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace vprof::driver {

namespace {

using instrumenter::SitesFile;
using report::Demoted;

constexpr double kLittle = 0.01;      // of the variance: less is not worth a measurement
constexpr double kLeastCost = 0.001;  // of the latency: less is not worth leaving out

/// The largest part of the variance in any node of a call, by callee and `file:line`.
using Variation = std::map<std::pair<std::string, std::string>, double>;

void add_variation(const analyzer::Node& node, Variation& variation) {
  double& most = variation[{node.function, node.location}];
  most = std::max({most, std::abs(node.contribution), std::abs(node.share)});
  for (const analyzer::Node& child : node.children) {
    add_variation(child, variation);
  }
}

std::map<size_t, std::string> function_names(const SitesFile& sites) {
  std::map<size_t, std::string> names;
  for (const SitesFile::FunctionEntry& one : sites.functions) {
    names[one.id] = one.name;
  }
  return names;
}

/// The measured calls that matter little, by position, with how often they were made.
std::map<std::string, Demoted> measured_calls(const SitesFile& sites,
                                              const std::vector<uint64_t>& calls,
                                              const Variation& variation) {
  const std::map<size_t, std::string> names = function_names(sites);
  std::map<std::string, Demoted> found;
  std::vector<std::string> matter;
  for (const SitesFile::SiteEntry& site : sites.sites) {
    if (site.kind != instrumenter::SiteKind::kCall || site.id >= calls.size() ||
        calls[site.id] == 0) {
      continue;
    }
    const std::string location = fmt::format("{}:{}", site.file, site.line);
    const std::string position = fmt::format("{}:{}", location, site.column);
    const auto name = names.find(site.function);
    if (name == names.end()) {
      continue;
    }
    Demoted& one = found[position];
    one.function = name->second;
    one.position = position;
    one.calls += calls[site.id];
    const auto varies = variation.find({name->second, location});
    if (varies != variation.end() && varies->second >= kLittle) {
      matter.push_back(position);
    }
  }
  for (const std::string& position : matter) {
    found.erase(position);
  }
  return found;
}

bool left_out_already(const State& state, const std::string& position) {
  return std::any_of(state.demoted.begin(), state.demoted.end(),
                     [&](const Demoted& one) { return one.position == position; });
}

}  // namespace

Thinning thin_plan(const analyzer::Profile& profile, const SitesFile& sites,
                   const std::vector<uint64_t>& calls, const State& state, double excess) {
  Variation variation;
  add_variation(profile.tree, variation);
  // Costs are relative to a typical interval.
  const double typical =
      profile.interval.p50_ns > 0 ? profile.interval.p50_ns : profile.interval.mean_ns;
  const double all = static_cast<double>(profile.interval.count) * typical;
  std::vector<Demoted> candidates;
  for (auto& [position, one] : measured_calls(sites, calls, variation)) {
    if (left_out_already(state, position)) {
      continue;
    }
    one.cost = all > 0 ? static_cast<double>(one.calls) * profile.overhead.record_ns / all : 0;
    one.since = state.iteration + 1;
    if (one.cost >= kLeastCost) {
      candidates.push_back(one);
    }
  }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Demoted& a, const Demoted& b) { return a.cost > b.cost; });
  Thinning thinning;
  for (Demoted& one : candidates) {
    if (thinning.saved >= excess) {
      break;
    }
    thinning.saved += one.cost;
    thinning.demoted.push_back(std::move(one));
  }
  return thinning;
}

}  // namespace vprof::driver
