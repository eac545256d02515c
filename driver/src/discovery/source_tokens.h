// C and C++ text as tokens, without a compiler: good enough to see functions and calls in a tree
// that has not been configured yet. Comments, literals and preprocessor lines are left out; of #if
// ... #else only the first branch is kept, so that brackets stay in pairs.
#pragma once

#include <string_view>
#include <vector>

namespace vprof::driver {

struct Token {
  std::string_view text;  ///< a name with its `::`, or one character; of literals `"` or `0`
  int line = 0;
  bool name = false;
};

/// Never fails: text that is no C yields tokens that mean nothing. The views point into `text`.
std::vector<Token> tokens_of(std::string_view text);

}  // namespace vprof::driver
