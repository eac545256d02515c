// A recording while it is being made.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace vprof::analyzer {

/// Tells whether a workload gets on: whether its intervals begin and end and its measured calls
/// return. Waits do not count, since an idle server may wait with a timeout, again and again.
class RecordingProgress {
 public:
  /// `trace_dir` may still be empty or missing.
  explicit RecordingProgress(std::string trace_dir) : directory_(std::move(trace_dir)) {}

  /// Whether the workload has got on since the last call. Reads what each thread has added to its
  /// newest chunk, 1 MiB at most.
  bool advanced();

 private:
  struct Position {
    uint32_t chunk = 0;
    size_t slots = 0;
  };

  std::string directory_;
  std::map<std::pair<std::string, uint32_t>, Position> seen_;  // by file and thread
};

}  // namespace vprof::analyzer
