// What a factor can be broken down into.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/state.h"

namespace vprof::driver {

/// The functions whose calls the next iteration should measure to break `factor` down: keys, none
/// of them expanded yet. Empty: it cannot be broken down further.
///
/// - A function is expanded itself. So is the owner of `body(f)` if f was never expanded: its body
///   is then the whole function except for its waits.
/// - The interval's own time, which is in no measured function, is broken down into the functions
///   that call those in which intervals begin and end.
/// - A library function is broken down into the functions of the program that it may call: those
///   passed to it or, for the call operator of std::function, stored in one.
/// - A wait for threads outside every measured function (`untracked(worker)`, at least the
///   threshold) is broken down into the function around it if it is at a barrier, else into the
///   functions that threads start with, so that the search continues in those threads. After these
///   come their callees that may never return, since a call that does not end is not recorded.
/// - A wait is an answer once the function that makes the call is known. Until then it is broken
///   down into the functions that make it, with the chains of calls that lead to them; or, if there
///   are too many, into the function that it happens in; or, outside every measured function, into
///   the functions that threads start with.
/// - If the wait is in a function that cannot be expanded and makes no such call, a signal handler
///   or a plug-in does: it is broken down into all functions that make the call.
std::vector<std::string> expandable_keys(const analyzer::Profile& profile,
                                         const analyzer::Factor& factor,
                                         const instrumenter::Program& program, const State& state);

/// A wait of the interval itself, and the functions to expand to see who makes the call.
struct OwnWait {
  std::string name;  ///< `wait(pthread_mutex_lock)`
  double share = 0;  ///< of the variance
  std::vector<std::string> keys;
};

/// Those of at least the threshold whose caller is not known, the largest first. What others did
/// meanwhile often explains all of such a wait, so it is no factor; but where a request takes the
/// lock is half of the answer.
std::vector<OwnWait> own_waits_to_find(const analyzer::Profile& profile,
                                       const instrumenter::Program& program, const State& state);

}  // namespace vprof::driver
