// What templates call in their instantiations.
//
// The text of a template is instrumented once for all of them, and in the text a callee may depend
// on the parameters: `static_cast<D*>(this)->impl(x)`, `backend.fetch(id)`, `P::work(x)`. Each
// instantiation has the same calls at the same places, and knows their callees.
#pragma once

#include <clang/AST/Decl.h>
#include <clang/Basic/SourceLocation.h>

#include <map>
#include <set>

namespace clang {
class CallExpr;
}

namespace vprof::instrumenter {

class InstantiatedCallees {
 public:
  /// @param pattern a function, as it is written; without templates, there are none
  explicit InstantiatedCallees(const clang::FunctionDecl& pattern);

  /// Of a call in its text.
  const std::set<const clang::FunctionDecl*>& of(const clang::CallExpr& call) const;

 private:
  std::map<clang::SourceLocation, std::set<const clang::FunctionDecl*>> by_end_;
};

}  // namespace vprof::instrumenter
