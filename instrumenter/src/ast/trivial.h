// Trivial functions: a few instructions, no loop, no call. Measuring them would distort more than
// it reveals.
#pragma once

#include <clang/AST/Decl.h>

#include <unordered_map>

namespace vprof::instrumenter {

/// Judges functions whose body is visible in this unit but not in the source tree, such as the
/// accessors, iterators and forwarders of the standard library, which C++ code calls everywhere. A
/// call of another trivial function does not count as a call.
class TrivialOutside {
 public:
  bool operator()(const clang::FunctionDecl& function);

 private:
  bool judge(const clang::FunctionDecl& function);
  bool is_small(const clang::Stmt* stmt, int& budget);

  std::unordered_map<const clang::FunctionDecl*, bool> known_;
};

}  // namespace vprof::instrumenter
