// Which changes of a diff contain which. The figures of a function have those of its callees, so a
// plain list of functions would count most changes twice.
#pragma once

#include <vector>

#include "vprof/analyzer/diff.h"

namespace vprof::analyzer {

/// A change, and its factor in both profiles; null where a profile does not have it.
struct NestedChange {
  FactorChange change;
  const Factor* a = nullptr;
  const Factor* b = nullptr;
};

/// Fills in FactorChange::within and depth, and puts the changes in the order of Diff::factors.
std::vector<FactorChange> nest(std::vector<NestedChange> changes);

}  // namespace vprof::analyzer
