// The latest part of a recording, copied while the program writes it.
//
// The program reuses its chunks, so what is to be looked at in peace is copied first. The copy is a
// recording of its own, which all tools read.
#pragma once

#include <cstdint>
#include <string>

#include "vprof/support/result.h"

namespace vprof::analyzer {

struct RecordingCopy {
  uint64_t bytes = 0;
  /// All that was recorded since then is in the copy, in ns of CLOCK_MONOTONIC: what was asked for,
  /// or later if older chunks had been reused.
  int64_t complete_since = 0;
};

/// Copies what was recorded since an instant of CLOCK_MONOTONIC, ns, and a little more, into the
/// directory `to`, which must exist. Processes that have recorded nothing since then are left out.
/// Error: one line; a trace cannot be read, or the copy not be written.
Result<RecordingCopy> copy_recording(const std::string& trace_dir, const std::string& to,
                                     int64_t since);

}  // namespace vprof::analyzer
