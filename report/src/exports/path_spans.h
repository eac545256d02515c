// The critical path of an interval as nested spans, each on the thread that it ran or waited on:
// what trace viewers show.
//
//   path of a piece    request > f > wait(m) > g > body     on thread 2
//   spans              f [ wait(m) ]  on thread 1,  g  on thread 2
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/timeline.h"

namespace vprof::report {

struct PathSpan {
  int64_t from_ns = 0, to_ns = 0;  ///< since the interval began
  /// Of the critical path, in it and in no span below it, on whatever thread. Adds up to the
  /// latency.
  int64_t self_ns = 0;
  uint32_t pid = 0, thread = 0;
  uint32_t tid = 0;  ///< the kernel's id of the thread; 0: unknown
  std::string thread_name;
  std::vector<std::string> path;  ///< names from the interval down to this span
  analyzer::NodeKind kind = analyzer::NodeKind::kFunction;
  bool inferred = false;     ///< as TimelinePiece::inferred, for some of it
  int64_t monotonic_ns = 0;  ///< when it began
};

/// In order of time; outer spans before those within them. Spans of one thread are within each
/// other or apart.
///
/// Functions around a wait are on the thread that waits. That is the thread of a piece between
/// wake-up and running again, or that which runs on in them; where there is neither, that of the
/// piece after the wait, since a wait ends when its thread runs again.
std::vector<PathSpan> path_spans(const analyzer::Timeline& timeline);

}  // namespace vprof::report
