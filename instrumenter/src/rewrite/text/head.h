// The head of a function's definition.
#pragma once

#include <optional>
#include <string>

namespace vprof::instrumenter {

/// A declaration's text on one line, without comments, white space folded. Nothing if it contains a
/// preprocessor directive.
std::optional<std::string> on_one_line(const std::string& text);

}  // namespace vprof::instrumenter
