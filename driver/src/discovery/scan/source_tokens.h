// Splits C and C++ text into tokens without a compiler: good enough to find functions and calls in
// a tree that has not been configured yet. Skips comments and preprocessor lines, and reduces
// literals to a mark. Of #if ... #else it keeps only the first branch that may hold on Linux, so
// that brackets stay balanced.
#pragma once

#include <string_view>
#include <vector>

namespace vprof::driver {

struct Token {
  std::string_view text;  ///< a name with its `::`, one character, or the first one of a literal
  int line = 0;
  bool name = false;
};

/// Never fails: text that is not C yields meaningless tokens. The views point into `text`.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace vprof::driver
