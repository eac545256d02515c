// Verbs that are written in Python.
#pragma once

#include <string>
#include <vector>

#include "vprof/support/result.h"

namespace vprof::driver {

/// Becomes the Python interpreter with these arguments: $VPROF_PYTHON, or that of the environment
/// that the documentation says to make, or Python on the PATH. Returns only with an error, one line
/// that begins with the verb.
Result<int> become_python(const std::string& verb, std::vector<std::string> arguments);

}  // namespace vprof::driver
