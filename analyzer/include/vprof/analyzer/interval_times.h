// Every interval of a recording with where its time went: for tables that other programs read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// A place in which time was found. Numbers rise as places are found: parents before children.
struct PlaceRow {
  uint32_t number = 0;
  uint32_t parent = 0;  ///< of the root (number 0): itself
  NodeKind kind = NodeKind::kFunction;
  std::string function;  ///< as in the variance tree
  std::string key;       ///< of a function in sites.json, else empty
  std::string site;      ///< `file:line`
};

struct PlaceTime {
  uint32_t place = 0;
  uint64_t ns = 0;  ///< of the place and all below it
};

struct IntervalRow {
  std::string interval;  ///< which kind
  uint64_t id = 0;       ///< as the program named it
  std::string label;
  int64_t begin_ns = 0;  ///< since the recording began
  uint64_t latency_ns = 0;
  std::vector<PlaceTime> times;  ///< the first is the root's; children add up to their parent
};

/// Receives rows. Every place comes before the first interval that has time in it. Intervals come
/// in order of falling begin, some near each other exchanged. An error ends the pass.
struct IntervalSink {
  std::function<Result<void>(const PlaceRow&)> place;
  std::function<Result<void>(const IntervalRow&)> interval;
};

struct IntervalTimesSummary {
  uint64_t intervals = 0;
  uint64_t left_out = 0;  ///< given up, or earlier than Options::skip_ns
};

/// One pass over a recording, memory as of analyze(). Options::interval says of which kind the
/// intervals are (empty: of all). Error: one line, as of analyze(), or what the sink said.
Result<IntervalTimesSummary> interval_times(const std::string& trace_dir,
                                            const std::string& sites_json, const Options& options,
                                            const IntervalSink& sink);

}  // namespace vprof::analyzer
