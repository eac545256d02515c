// The critical path of an interval as nested spans: how tracing systems show a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "vprof/analyzer/timeline.h"

namespace vprof::report {

/// A place of the variance tree during one stretch of the critical path: a call, a wait, what a
/// wait is blamed on. Its own time is what its children leave.
struct NestedSpan {
  static constexpr size_t kNone = SIZE_MAX;

  std::string name;
  analyzer::NodeKind kind = analyzer::NodeKind::kFunction;
  size_t parent = kNone;             ///< index; of the interval itself: none
  int64_t from_ns = 0, to_ns = 0;    ///< since the interval began; within the parent's
  bool inferred = false;             ///< of all of it: who was waited for is not certain
  std::optional<uint32_t> pid = {};  ///< of the thread that it is on; nothing: of several
  uint32_t thread = 0, tid = 0;
  std::string thread_name = {};
  std::vector<size_t> woken_by = {};  ///< where the path came from another thread: those before
};

/// The first span is the interval. Parents come before their children.
std::vector<NestedSpan> nested_spans(const analyzer::Timeline& timeline);

/// The `most` longest spans, with their parents, in the same order.
std::vector<NestedSpan> longest_spans(std::vector<NestedSpan> spans, size_t most);

}  // namespace vprof::report
