// The iterations of a search on disk: putting them away, and going back to one.
#pragma once

#include "workspace/session.h"

namespace vprof::driver {

/// Moves the iterations after `last` to `.vprof/iterations.previous`, where their reports stay
/// readable until that happens again. Nothing happens if there are none.
Result<void> put_away_iterations(const Session& session, int last);

/// Keeps the state as it is before anything is decided on the current iteration, for go_back().
Result<void> keep_state(const Session& session);

/// The state becomes what it was when iteration `n` had been analysed; later iterations are put
/// away. Error: there is no such iteration.
Result<void> go_back(Session& session, int n);

}  // namespace vprof::driver
