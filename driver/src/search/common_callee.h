// A function that is called from many places: each caller may be too small to be broken down, while
// together they are not.
#pragma once

#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "workspace/state.h"

namespace vprof::driver {

/// Functions to expand because all of them call one function, directly or not, and their shares add
/// up to the threshold.
struct CommonCallee {
  std::string name;               ///< of the function that they call; empty: there is none
  double share = 0;               ///< of the callers together
  std::vector<std::string> keys;  ///< of the callers, largest share first

  /// `8 callers of f (24 % of the variance together)`
  std::string in_words() const;
};

/// The function whose callers, of those measured and not expanded yet, have the greatest share
/// together; one of the C++ library's own only if there is no other. None if that is below the
/// threshold of the profile, or if there is only one caller.
/// Functions selected or set aside do not count.
CommonCallee find_common_callee(const analyzer::Profile& profile,
                                const instrumenter::Program& program, const State& state);

}  // namespace vprof::driver
