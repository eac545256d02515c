// Which functions are "a few instructions, no loop, no call" (DESIGN §6): timing them would distort
// more than it tells.
#pragma once

#include <clang/AST/Decl.h>

#include <unordered_map>

namespace vprof::instrumenter {

/// Judges functions whose body can be seen in this unit but is not in the source tree: the standard
/// library's accessors, iterators and forwarders, which C++ calls everywhere. A call of another
/// such function does not count as a call.
class TrivialOutside {
 public:
  bool operator()(const clang::FunctionDecl& function);

 private:
  bool judge(const clang::FunctionDecl& function);
  bool is_small(const clang::Stmt* stmt, int& budget);

  std::unordered_map<const clang::FunctionDecl*, bool> known_;
};

}  // namespace vprof::instrumenter
