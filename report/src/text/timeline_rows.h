// The pieces of a timeline as rows for people. A request of a second has hundreds of thousands of
// pieces; what matters are the long ones, and what the short ones in between add up to.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "vprof/analyzer/timeline.h"

namespace vprof::report {

struct TimelineRow {
  int64_t from_ns = 0, to_ns = 0;
  std::string thread;             ///< `1234:1 worker`; of pieces on several: `3 threads`
  std::vector<std::string> path;  ///< that all pieces of the row share, the interval first
  uint64_t pieces = 1;
  bool inferred = false;  ///< some of them, as TimelinePiece::inferred
  /// What the pieces did below `path`, longest time first; empty if all did the same.
  std::vector<std::pair<std::string, int64_t>> parts;
};

/// A row per piece.
std::vector<TimelineRow> rows_of(const analyzer::Timeline& timeline);

/// Puts equal neighbours together, and runs of pieces that are shorter than `least_ns`. What lies
/// between two equal rows and is shorter than that all together disappears in them.
std::vector<TimelineRow> folded_rows(const analyzer::Timeline& timeline, int64_t least_ns);

}  // namespace vprof::report
