// From when on an interval is slow.
#pragma once

#include <string>

#include "vprof/analyzer/analyzer.h"

namespace vprof::driver {

/// A latency, or a percentile of what has been measured so far.
class SlowBound {
 public:
  /// `50ms`, `1.5s`, `200us`, or `p95`, `p99`, `p99.9`. Error: one line.
  static Result<SlowBound> parse(const std::string& text);

  /// ns. With a percentile, nothing is slow among the first thousand intervals.
  double ns(const analyzer::Profile& so_far) const;

 private:
  double ns_ = 0;
  double analyzer::IntervalSummary::* percentile_ = nullptr;
};

}  // namespace vprof::driver
