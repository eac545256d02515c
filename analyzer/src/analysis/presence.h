// How the intervals of one kind compare with the recording: how long they go on, and how much of
// the time of the threads that work for them lies in them.
#pragma once

#include <vector>

#include "critical_path/segments.h"
#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

class Presence {
 public:
  void add(const Interval& interval);
  /// Fills in run_ns, working_threads, working_ns and present_ns.
  void add_to(Overhead& overhead) const;

 private:
  struct Working {
    int64_t first = INT64_MAX;
    int64_t last = INT64_MIN;
    int64_t ns = 0;
  };

  int64_t begin_ = INT64_MAX;
  int64_t end_ = INT64_MIN;
  std::vector<Working> threads_;
};

}  // namespace vprof::analyzer
