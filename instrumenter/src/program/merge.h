#pragma once

#include <memory>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// What one unit says. A function that several units read alike stands once for all of them.
struct UnitView {
  Unit unit;
  std::vector<std::shared_ptr<const Function>> functions;
};

/// Builds one program from the functions of its units. A function of a header, which several units
/// define, becomes one. Where units read its text differently, the call is refused and the place
/// noted in Program::conflicts. The result does not depend on the order of the units.
Program merge_units(std::vector<UnitView> units);

}  // namespace vprof::instrumenter
