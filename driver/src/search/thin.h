// Which call sites to leave out of the next plan, so that measuring changes the program less: those
// that are passed often and whose time hardly varies with the latency (design: "demoted into their
// parent's body").
#pragma once

#include <nlohmann/json.hpp>
#include <vector>

#include "workspace/state.h"

namespace vprof::driver {

struct Thinning {
  std::vector<report::Demoted> demoted;  ///< dearest first
  double saved = 0;  ///< what measuring them cost, as a part of the median latency
};

/// `calls`: by site id of `sites` (sites.json). Takes sites until `excess`, a part of the median
/// latency, is saved, or nothing is left that costs at least a thousandth of the latency and holds
/// less than 1 % of the variance wherever it stands in the tree.
Thinning thin_plan(const analyzer::Profile& profile, const nlohmann::json& sites,
                   const std::vector<uint64_t>& calls, const State& state, double excess);

}  // namespace vprof::driver
