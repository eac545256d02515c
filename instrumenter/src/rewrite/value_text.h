#pragma once

#include <string>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// The value as source text inside `function`. Error: one line that says what is wrong and what to
/// do.
Result<std::string> value_text(const Value& value, const Function& function);

}  // namespace vprof::instrumenter
