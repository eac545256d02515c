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

/// What a recording holds.
struct RecordedSoFar {
  uint64_t intervals = 0;  ///< completed
  uint64_t records = 0;
  bool exact = true;  ///< false: scaled up from a part of the recording
};

/// Counts what a recording holds while it grows, without standing in the program's way: each look
/// reads about 1 MiB at most and judges by that what it had to leave out.
class RecordingCounter {
 public:
  /// `trace_dir` may still be empty or missing. `slots_per_look` is for tests.
  explicit RecordingCounter(std::string trace_dir, size_t slots_per_look = size_t{1} << 16)
      : directory_(std::move(trace_dir)), slots_per_look_(slots_per_look) {}

  RecordedSoFar look();

  /// What is known of one thread.
  struct Counted {
    uint32_t chunk = 0;     ///< the one being read
    size_t slots = 0;       ///< read of that chunk
    uint64_t read = 0;      ///< slots, in all
    uint64_t left_out = 0;  ///< slots
    uint64_t intervals = 0, records = 0;
  };

 private:
  std::string directory_;
  size_t slots_per_look_;
  std::map<std::pair<std::string, uint32_t>, Counted> threads_;  // by file and serial
};

}  // namespace vprof::analyzer
