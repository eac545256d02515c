// The iterations of a search: beginning one, noting what it found, moving those on disk out of the
// way, and going back to one.
#pragma once

#include <cstdint>
#include <optional>

#include "search/policy.h"
#include "workspace/session.h"

namespace vprof::driver {

/// Moves the iterations after `last` to `.vprof/iterations.previous`, replacing what an earlier
/// call moved there. Without such iterations nothing changes.
Result<void> put_away_iterations(const Session& session, int last);

/// Starts the search over if the user wants that or the intervals in vprof.json have changed.
/// Returns whether they have.
Result<bool> restart_if_needed(Session& session, bool wanted);

/// Begins the next iteration, which expands these functions as well.
Result<void> next_iteration(Session& session, const instrumenter::Program& program,
                            const std::vector<std::string>& keys);

/// Notes in the current iteration what was measured.
void keep_measured(const analyzer::Profile& profile, State& state);

/// Notes what was accepted and set aside. `alone`: by the policy, which selects anew from each
/// profile. What the user has decided stays.
void record(const Decision& decision, bool alone, State& state);

/// Keeps the state before any decision on the current iteration, for go_back().
Result<void> keep_state(const Session& session);

/// Keeps the sites that the current iteration measures. Returns how many of its call sites the
/// iteration before did not measure; nothing if that did not keep its own.
Result<std::optional<uint64_t>> keep_sites(const Session& session);

/// Restores the state as it was after the analysis of iteration `n` and puts later iterations away.
/// Error: there is no such iteration.
Result<void> go_back(Session& session, int n);

}  // namespace vprof::driver
