// Which call sites to leave out of the next plan so that measuring slows the program down less:
// those that are passed often and whose time hardly varies with the latency. Their time then counts
// as body of the caller ("demoted").
#pragma once

#include <vector>

#include "vprof/instrumenter/sites.h"
#include "workspace/state.h"

namespace vprof::driver {

struct Thinning {
  std::vector<report::Demoted> demoted;  ///< most expensive first
  double saved = 0;                      ///< their cost, as a fraction of the median latency
};

/// Picks call sites, most expensive first, until they cost `excess` (a fraction of the median
/// latency) or no candidate is left. A candidate costs at least a thousandth of the latency and
/// holds less than 1 % of the variance at each of its places in the tree.
/// @param calls how often each site was passed, by site id
Thinning thin_plan(const analyzer::Profile& profile, const instrumenter::SitesFile& sites,
                   const std::vector<uint64_t>& calls, const State& state, double excess);

}  // namespace vprof::driver
