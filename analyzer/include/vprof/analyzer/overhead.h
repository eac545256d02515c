// What is certain about the cost of measuring, where single slow intervals make the means of two
// runs differ by chance.
#pragma once

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// By how much measuring surely raises the latency, as a part of it: by the medians, or by the
/// lower end of the confidence interval of the means, whichever is more. Negative: it does not; 0
/// if there was no baseline.
double sure_overhead(const Overhead& overhead);

/// Whether two runs differ for certain by more than the part `by`, in either direction.
bool surely_differs(const Overhead& overhead, double by);

}  // namespace vprof::analyzer
