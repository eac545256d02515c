#include "ast/instantiations.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>

#include <vector>

namespace vprof::instrumenter {
namespace {

using Functions = std::vector<const clang::FunctionDecl*>;

void add_specializations(const clang::FunctionTemplateDecl& pattern, Functions& found) {
  for (const clang::FunctionDecl* one : pattern.specializations()) {
    found.push_back(one);
  }
}

/// The methods, and the method templates, that the instantiations of a class have for this one.
void add_members(const clang::FunctionDecl& pattern, const clang::ClassTemplateDecl& around,
                 Functions& found) {
  for (const clang::ClassTemplateSpecializationDecl* one : around.specializations()) {
    for (const clang::Decl* member : one->decls()) {
      if (const auto* method = dyn_cast<clang::FunctionDecl>(member);
          method != nullptr && method->getTemplateInstantiationPattern() == &pattern) {
        found.push_back(method);
      } else if (const auto* templated = dyn_cast<clang::FunctionTemplateDecl>(member);
                 templated != nullptr && templated->getInstantiatedFromMemberTemplate() ==
                                             pattern.getDescribedFunctionTemplate()) {
        add_specializations(*templated, found);
      }
    }
  }
}

/// What is within a template is instantiated with it: a lambda, a class in a function.
void add_instantiations(const clang::FunctionDecl& pattern, Functions& found) {
  if (const clang::FunctionTemplateDecl* own = pattern.getDescribedFunctionTemplate()) {
    add_specializations(*own, found);
  }
  for (const clang::DeclContext* around = pattern.getParent(); around != nullptr;
       around = around->getParent()) {
    if (const auto* function = dyn_cast<clang::FunctionDecl>(around)) {
      return add_instantiations(*function, found);
    }
    if (const auto* record = dyn_cast<clang::CXXRecordDecl>(around)) {
      if (const clang::ClassTemplateDecl* one = record->getDescribedClassTemplate()) {
        add_members(pattern, *one, found);
      }
    }
  }
}

class CalleeFinder : public clang::RecursiveASTVisitor<CalleeFinder> {
 public:
  explicit CalleeFinder(
      std::map<clang::SourceLocation, std::set<const clang::FunctionDecl*>>& by_end)
      : by_end_(by_end) {}

  bool VisitCallExpr(clang::CallExpr* call) {
    if (const clang::FunctionDecl* callee = call->getDirectCallee()) {
      by_end_[call->getRParenLoc()].insert(callee);
    }
    return true;
  }

 private:
  std::map<clang::SourceLocation, std::set<const clang::FunctionDecl*>>& by_end_;
};

}  // namespace

InstantiatedCallees::InstantiatedCallees(const clang::FunctionDecl& pattern) {
  if (!pattern.isDependentContext()) {
    return;
  }
  Functions found;
  add_instantiations(pattern, found);
  for (const clang::FunctionDecl* one : found) {
    if (clang::Stmt* body = one->getBody()) {
      CalleeFinder(by_end_).TraverseStmt(body);
    }
  }
}

const std::set<const clang::FunctionDecl*>& InstantiatedCallees::of(
    const clang::CallExpr& call) const {
  static const std::set<const clang::FunctionDecl*> none;
  const auto found = by_end_.find(call.getRParenLoc());
  return found == by_end_.end() ? none : found->second;
}

}  // namespace vprof::instrumenter
