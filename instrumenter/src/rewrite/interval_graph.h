// The part of the call graph that belongs to intervals.
#pragma once

#include <set>
#include <string>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

struct IntervalGraph {
  /// Below the functions where intervals begin, end or are switched to, and below expanded
  /// functions that are not above these; at least 1.
  int height = 1;
  /// Keys of the functions that reach one of those, by calling, passing on or starting a thread:
  /// `main`, the loop of a worker. What else they call is no part of an interval.
  std::set<std::string> above;
};

IntervalGraph interval_graph(const Program& program, const Plan& plan);

}  // namespace vprof::instrumenter
