// What the flight recorder has kept: `.vprof/watch/kept/N`, each the recording of a window of time
// in which intervals were slow.
#pragma once

#include <cstdint>
#include <vector>

#include "workspace/workspace.h"

namespace vprof::driver {

/// All of them, the oldest first.
std::vector<fs::path> kept_recordings(const Workspace& workspace);

/// Whether this is one of them, and as old as to hold nothing of that time, ns of CLOCK_REALTIME.
bool is_kept_before(const Workspace& workspace, const fs::path& recording, int64_t realtime_ns);

/// Moves a recording there. Removes the oldest ones while all together take more than `most_bytes`.
/// Returns where it is now.
Result<fs::path> keep_recording(const Workspace& workspace, const fs::path& recording,
                                uint64_t most_bytes);

/// Where single intervals of an iteration are looked up: in its own recording, unless that has been
/// deleted, and for the current iteration in what the flight recorder has kept.
std::vector<fs::path> recordings_of(const Workspace& workspace, int iteration, bool current);

}  // namespace vprof::driver
