// The iterations of a search on disk: moving them out of the way, and going back to one.
#pragma once

#include <cstdint>
#include <optional>

#include "workspace/session.h"

namespace vprof::driver {

/// Moves the iterations after `last` to `.vprof/iterations.previous`, replacing what an earlier
/// call moved there. Without such iterations nothing changes.
Result<void> put_away_iterations(const Session& session, int last);

/// Keeps the state before any decision on the current iteration, for go_back().
Result<void> keep_state(const Session& session);

/// Keeps the sites that the current iteration measures. Returns how many of its call sites the
/// iteration before did not measure; nothing if that did not keep its own.
Result<std::optional<uint64_t>> keep_sites(const Session& session);

/// Restores the state as it was after the analysis of iteration `n` and puts later iterations away.
/// Error: there is no such iteration.
Result<void> go_back(Session& session, int n);

}  // namespace vprof::driver
