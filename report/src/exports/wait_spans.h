// The waits of a timeline, each on the thread that waited.
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

/// Pieces within a wait mostly show other threads: those that the wait is blamed on. The thread
/// that waited is that of the piece between wake-up and running again, if there is one; otherwise
/// that of the piece after the wait, since a wait ends when its thread runs again. Inner waits come
/// before outer ones.
std::vector<WaitSpan> wait_spans(const std::vector<analyzer::TimelinePiece>& pieces);

}  // namespace vprof::report
