// Where a second reading of the same text would mean something else: `__COUNTER__`, `_Pragma`.
#pragma once

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Preprocessor.h>

#include <map>
#include <memory>
#include <set>

namespace vprof::instrumenter {

/// What the preprocessor has met in one unit.
class UnrepeatableText {
 public:
  /// Collects from now on, as long as the preprocessor lives.
  void watch(clang::Preprocessor& preprocessor);

  /// Whether there is any in this part of a file, also from macros that are expanded there.
  bool is_within(clang::FileID file, unsigned begin, unsigned end) const;

 private:
  class Watcher;

  std::map<clang::FileID, std::set<unsigned>> places_;  // offsets
  bool redefines_if_ = false;  // what is inserted would not mean what it says either
};

}  // namespace vprof::instrumenter
