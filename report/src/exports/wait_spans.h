// Waits of a timeline, as stretches of the thread that waited.
#pragma once

#include <string>
#include <vector>

#include "vprof/analyzer/timeline.h"

namespace vprof::report {

struct WaitSpan {
  int64_t from_ns = 0, to_ns = 0;  ///< since the interval began
  uint32_t pid = 0, thread = 0;
  std::string name;  ///< `wait(...)`, `queue(...)`
  analyzer::NodeKind kind = analyzer::NodeKind::kWait;
};

/// From pieces, which say what went on meanwhile, mostly on other threads. Those who waited are
/// told by the rest of the wait, from the wake-up until they ran on; else by what follows, since a
/// wait ends with its thread running on. Outer waits come after what they hold.
std::vector<WaitSpan> wait_spans(const std::vector<analyzer::TimelinePiece>& pieces);

}  // namespace vprof::report
