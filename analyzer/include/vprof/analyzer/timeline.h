// One interval in the course of time: its critical path, piece by piece.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// What the interval did, or waited for, during one stretch of time.
struct TimelinePiece {
  /// Since the interval began.
  int64_t from_ns = 0, to_ns = 0;
  uint32_t pid = 0;
  /// Serial number of the thread within the process; of blame: the waker.
  uint32_t thread = 0;
  std::string thread_name;
  /// Names from the interval down, as in the variance tree.
  std::vector<std::string> path;
  /// The kinds of these nodes.
  std::vector<NodeKind> kinds;
  /// The kernel's id of the thread.
  uint32_t tid = 0;
  /// Below a wait of which who ended it was inferred, not recorded.
  bool inferred = false;
  /// When it began, ns of CLOCK_MONOTONIC.
  int64_t monotonic_ns = 0;
};

struct Timeline {
  std::string interval;
  std::string label;
  /// As Exemplar.
  uint64_t id = 0, key = 0;
  TraceContext trace = {};
  /// Path of the executable in which it ended.
  std::string program;
  /// When it began, ns of CLOCK_REALTIME.
  int64_t realtime_ns = 0;
  /// Since the recording began.
  int64_t begin_ns = 0;
  int64_t latency_ns = 0;
  /// If it was asked for by its key or trace: other intervals with that, none of which is slower.
  uint64_t others = 0;
  /// In order of time, without gaps: from 0 to latency_ns.
  std::vector<TimelinePiece> pieces;
};

/// The timeline of the completed interval with this id, or of the slowest one with this key. An
/// empty Options::interval means any kind. Errors as for analyze(), or there is no such interval.
Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             uint64_t id, const Options& options);

/// The same for the slowest interval of a trace, whatever its span.
Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             const TraceContext& trace, const Options& options);

/// An interval whose timeline is wanted. With id 0, as in profiles of earlier versions, there is
/// none; nor if the latency differs, as in another recording.
struct TimelineRequest {
  uint64_t id = 0;
  int64_t latency_ns = 0;
};

/// Calls `take` with the index of each request that the recording has, and its timeline: from one
/// pass over the recording, in no order, one at a time, since each may be large. Errors as for
/// analyze().
Result<void> visit_timelines(const std::string& trace_dir, const std::string& sites_json,
                             const std::vector<TimelineRequest>& requests, const Options& options,
                             const std::function<void(size_t, Timeline)>& take);

/// A part of a recording, and which intervals of it are wanted.
struct TimelinePart {
  Epoch epoch;
  std::vector<TimelineRequest> wanted;
};

/// The same for several parts, one after the other, each in one pass. `take` gets the index of the
/// part, and that of the request in it. Options::epoch does not matter.
Result<void> visit_timelines(const std::string& trace_dir, const std::string& sites_json,
                             const std::vector<TimelinePart>& parts, const Options& options,
                             const std::function<void(size_t, size_t, Timeline)>& take);

/// The same timelines all at once, in the order of the requests.
Result<std::vector<Timeline>> timelines_of(const std::string& trace_dir,
                                           const std::string& sites_json,
                                           const std::vector<TimelineRequest>& requests,
                                           const Options& options);

}  // namespace vprof::analyzer
