#pragma once

#include <functional>
#include <set>
#include <string>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Keys of the functions that may be entered from elsewhere than a direct call which has a site:
/// through a pointer, by a library, by a new thread, by a call without a site. In C++ these are all
/// functions, since not all of its calls have a text of their own. Only these need a scope in an
/// armed program: each frame of the others is measured by the site of the call.
/// @param has_site whether a call of a function has a site of its own
std::set<std::string> unseen_entries(
    const Program& program,
    const std::function<bool(const Function& caller, const Call& call)>& has_site);

}  // namespace vprof::instrumenter
