// Traces of processes that have ended during a watch.
//
// A server that starts a process for each connection leaves a file for each. A watch of days would
// fill the disk with them, and opens all of them at each look. What was slow is kept as a copy, so
// vprof deletes them once no window reaches back that far. A process in a container has a number
// that says nothing outside, so there must be one process at least that is known by its number to
// record there.
#pragma once

#include <map>
#include <set>

#include "vprof/support/files.h"

namespace vprof::driver {

/// Times are in s. Knows nothing about a clock.
class EndedProcesses {
 public:
  /// What has ended before stays: another verb may want it.
  /// @param keep how long a trace stays when its process has been seen to have ended
  EndedProcesses(fs::path trace, double keep);
  /// Deletes what may go. Error: a file cannot be deleted; from then on, none is.
  Result<void> sweep(double now);

 private:
  bool knows_numbers();

  const fs::path trace_;
  const double keep_;
  bool gives_up_ = false, knows_numbers_ = false;
  std::set<fs::path> stay_;
  std::map<fs::path, double> ended_;  // since when, as far as is known
};

}  // namespace vprof::driver
