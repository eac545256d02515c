#pragma once

#include <string>

#include "vprof/instrumenter/plan.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// A value as source text that follows no null pointer (vprof/runtime/values.h).
struct ValueText {
  std::string steps;  ///< what has to refer to an object, in order; empty: nothing
  std::string text;   ///< the value; may name what the steps have found
  std::string ends;   ///< closes the steps

  bool is_plain() const { return steps.empty(); }

  /// As a number in an expression: `none` if a step leads nowhere.
  std::string or_else(const std::string& none) const;
};

/// The value inside `function`. `name` is the begin of the names that its steps declare: values
/// that are used together need different ones. Error: one line that says what is wrong and what to
/// do.
Result<ValueText> value_text(const Value& value, const Function& function, const std::string& name);

/// A value that begins with `return`, inside a wrapper, in which the result has the name `result`.
ValueText returned_text(const Value& value, const std::string& result);

}  // namespace vprof::instrumenter
