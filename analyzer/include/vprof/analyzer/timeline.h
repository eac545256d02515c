// One interval as it went: its critical path, piece by piece.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vprof/analyzer/analyzer.h"

namespace vprof::analyzer {

/// What the interval was waiting for, or doing, at one time. Pieces follow each other without a
/// gap.
struct TimelinePiece {
  int64_t from_ns = 0, to_ns = 0;  ///< since the interval began
  uint32_t pid = 0;
  uint32_t thread = 0;  ///< serial within the process; of a wait's blame: the waker
  std::string thread_name;
  std::vector<std::string> path;  ///< names from the interval down, as in the tree
  std::vector<NodeKind> kinds;    ///< of those
};

struct Timeline {
  std::string interval;
  std::string label;
  uint64_t id = 0;
  int64_t begin_ns = 0;  ///< since the recording began
  int64_t latency_ns = 0;
  uint64_t others = 0;  ///< of the same id; the slowest is shown
  std::vector<TimelinePiece> pieces;
};

/// The completed interval that the program named `id`; Options::interval says of which kind (else
/// of any). Error: one line; there is none, or as of analyze().
Result<Timeline> timeline_of(const std::string& trace_dir, const std::string& sites_json,
                             uint64_t id, const Options& options);

/// One of several of the same id is told by its latency, ns.
struct TimelineWish {
  uint64_t id = 0;
  int64_t latency_ns = 0;
};

/// In one pass over the recording: those of the wishes that are there, in their order.
Result<std::vector<Timeline>> timelines_of(const std::string& trace_dir,
                                           const std::string& sites_json,
                                           const std::vector<TimelineWish>& wishes,
                                           const Options& options);

}  // namespace vprof::analyzer
