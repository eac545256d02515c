// Which call sites to leave out of the next plan because measuring them costs too much. Their time
// then counts as body of the caller ("demoted"). Everything follows from numbers of calls and the
// cost of a record; no latency is compared with that of another run.
#pragma once

#include <vector>

#include "vprof/instrumenter/sites.h"
#include "workspace/state.h"

namespace vprof::driver {

struct Thinning {
  std::vector<report::Demoted> demoted;  ///< most expensive first
  double saved = 0;                      ///< their cost, as a part of the time the program is busy
};

/// Sites that intervals pass many times each, such as calls in a loop over all keys, until those
/// left add no more than `budget` to the latency. Looks at all intervals, at the slow ones and at
/// each label, if a hundredth of the squared deviations from the mean is theirs. The calls are left
/// out even if much of the variance is in them: what such records add to an interval varies as the
/// number of its calls does, so it looks like a cause. The loop remains measured as a whole.
std::vector<report::Demoted> heavy_sites(const analyzer::Profile& profile,
                                         const instrumenter::SitesFile& sites, const State& state,
                                         double budget);

/// Sites that are passed often and whose time hardly varies with the latency, most expensive first,
/// until they add `excess` to the time that the program is busy, or no candidate is left. First
/// those that add at least a thousandth and hold less than 1 % of the variance at each of their
/// places in the tree; if they are not enough, all that hold less than the threshold of an answer.
/// Last, those that hold less than 1 % themselves, since most is in functions that are measured
/// below them: these then appear one level higher, and what varies stays measured.
/// @param calls how often each site was passed, by site id
/// @param left_out by the caller already
Thinning thin_plan(const analyzer::Profile& profile, const instrumenter::SitesFile& sites,
                   const std::vector<uint64_t>& calls, const State& state, double excess,
                   const std::vector<report::Demoted>& left_out = {});

/// Sites in functions that are called often, but not measured any more, where the sites hold less
/// than 1 % of the variance. Such sites are seldom passed, so they make few records; but the mere
/// presence of one costs each call of the function a few instructions. Where that adds up to a ten
/// thousandth of the time that the program is busy, all of the function's sites are left out.
/// @param state with what is left out already, also of the next plan
std::vector<report::Demoted> burdens(const analyzer::Profile& profile,
                                     const instrumenter::SitesFile& sites,
                                     const std::vector<uint64_t>& calls, const State& state);

}  // namespace vprof::driver
