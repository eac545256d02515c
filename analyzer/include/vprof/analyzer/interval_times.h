// Every interval of a recording, with the places where its time went: for tables that other
// programs read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A place in which time was found: a path in the tree of all critical paths.
struct PlaceRow {
  /// Counts up from 0, the root. Parents come before their children.
  uint32_t number = 0;
  /// Number of the parent; the root is its own parent.
  uint32_t parent = 0;
  NodeKind kind = NodeKind::kFunction;
  /// As Node::function.
  std::string function;
  /// Key of a function in sites.json, else empty.
  std::string key;
  /// `file:line`
  std::string location;
};

struct PlaceTime {
  /// PlaceRow::number
  uint32_t place = 0;
  /// Of the place and everything below it.
  uint64_t ns = 0;
};

struct IntervalRow {
  /// Name of its kind.
  std::string interval;
  /// As Exemplar.
  uint64_t id = 0, key = 0;
  std::string label;
  TraceContext trace;
  /// Since the recording began.
  int64_t begin_ns = 0;
  uint64_t latency_ns = 0;
  /// By number of the place, so the root comes first. Children add up to their parent.
  std::vector<PlaceTime> times;
};

/// Receives the rows. A place comes before the first interval with time in it. Intervals come
/// roughly latest first: neighbours may be exchanged. An error ends the pass.
struct IntervalSink {
  std::function<Result<void>(const PlaceRow&)> place;
  std::function<Result<void>(const IntervalRow&)> interval;
};

struct IntervalTimesSummary {
  uint64_t intervals = 0;
  /// Intervals given up for lack of memory, or that began before Options::skip_ns.
  uint64_t left_out = 0;
};

/// Makes one pass over a recording, in as much memory as analyze(). An empty Options::interval
/// means all kinds. Errors as for analyze(), or the error of the sink.
Result<IntervalTimesSummary> interval_times(const std::string& trace_dir,
                                            const std::string& sites_json, const Options& options,
                                            const IntervalSink& sink);

}  // namespace vprof::analyzer
