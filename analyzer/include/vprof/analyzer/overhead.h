// What is certain about the cost of measuring. The means of two runs also differ by chance, because
// of single slow intervals.
#pragma once

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// The least increase of the latency by measuring, as a fraction of it: the increase of the median
/// or the lower end of the confidence interval of the mean ratio, whichever is greater. Negative if
/// measuring does not raise the latency; 0 without a baseline.
double sure_overhead(const Overhead& overhead);

/// Whether two runs certainly differ by more than the fraction `by`, in either direction.
bool surely_differs(const Overhead& overhead, double by);

}  // namespace vprof::analyzer
