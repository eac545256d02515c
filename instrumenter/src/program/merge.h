#pragma once

#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// Builds one program from the functions of its units. A function of a header, which several units
/// define, becomes one. Where units read its text differently, the call is refused and the place
/// noted in Program::conflicts. The result does not depend on the order of the units.
Program merge_units(std::vector<std::pair<Unit, std::vector<Function>>> units);

}  // namespace vprof::instrumenter
