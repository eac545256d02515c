// Kinds of time: whether the intervals compute or wait, and for what. This is how an interval sees
// its own time: a wait counts as a wait, whatever the thread to blame for it did meanwhile.
#pragma once

#include <vector>

#include "factors/jackknife.h"
#include "factors/variance_tree.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// All kinds that have time, by falling share. Their means add up to the mean latency, and their
/// shares to 1.
std::vector<KindOfTime> kinds_of_time(const VarianceTree& tree, const Jackknife& jackknife);

}  // namespace vprof::analyzer
