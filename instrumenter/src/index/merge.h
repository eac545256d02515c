#pragma once

#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// One program from the functions of its units. A function that several units define (a header's)
/// is merged into one; where units disagree about how its text is read, the place is refused and
/// noted in Program::conflicts, not resolved by luck. The result does not depend on the order of
/// the units.
Program merge_units(std::vector<std::pair<Unit, std::vector<Function>>> units);

}  // namespace vprof::instrumenter
