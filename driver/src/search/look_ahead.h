// What can be expanded at the same time because it adds little: without it, each level of calls
// takes an iteration of its own. Downwards, where the call graph is narrow; and upwards from a call
// that waits, which is known from the name of the wait.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/state.h"

namespace vprof::driver {

/// How far to look.
struct Foresight {
  /// Call sites that may be added below the functions to expand. A function's callees are expanded
  /// all together or not at all. A single callee is always expanded: there is nothing to choose.
  size_t sites = 0;
};

/// Before anything has been measured only chains of single callees are certain to be needed.
inline constexpr Foresight kSingleCallees{.sites = 0};
/// A later iteration knows where the variance is. This many more sites hardly show beside those of
/// the function itself; a call that turns out to be frequent is left out again.
inline constexpr Foresight kNarrowCalls{.sites = 16};
/// In an armed program the sites are there anyway, and a census of a quarter of a second switches
/// off what is frequent. A level of calls would take an epoch of some seconds.
inline constexpr Foresight kArmedCalls{.sites = 150};

/// The functions below `keys` to expand at the same time, the nearest first, without `keys`. Looks
/// through pointers, virtual methods and function objects. Functions that are expanded, selected or
/// set aside end a chain. So do calls in loops: how often they are made, only a measurement tells.
std::vector<std::string> look_ahead(const std::vector<std::string>& keys,
                                    const instrumenter::Program& program, const State& state,
                                    const Foresight& foresight);

/// The functions to expand to see from where `wait`, such as `wait(fsync)`, is reached: those that
/// make the call and can be expanded, and as many levels of their callers as add few call sites.
/// `below`: only what this function calls, directly or not; null: anywhere. Empty: they are
/// expanded already, too many, or not known.
std::set<std::string> callers_that_wait(const std::string& wait,
                                        const instrumenter::Function* below,
                                        const instrumenter::Program& program, const State& state);

/// Whether the function makes the call of `wait`, or leads to one that does. A call that is not in
/// the program may make any.
bool may_make(const std::string& wait, const instrumenter::Function& function,
              const instrumenter::Program& program);

}  // namespace vprof::driver
