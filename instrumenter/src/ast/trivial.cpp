#include "ast/trivial.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>

#include "ast/callee_kinds.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Most statement nodes of a trivial body. Accessors of the standard library have up to about
/// thirty, casts included.
constexpr int kNodes = 60;

}  // namespace

bool TrivialOutside::operator()(const clang::FunctionDecl& function) {
  const clang::FunctionDecl* definition = function.getDefinition();
  if (definition == nullptr) {
    return false;
  }
  // Entered as "not trivial" first, which also ends recursion.
  const auto [it, is_new] = known_.emplace(definition, false);
  if (!is_new) {
    return it->second;
  }
  const bool trivial = judge(*definition);
  known_[definition] = trivial;
  return trivial;
}

bool TrivialOutside::judge(const clang::FunctionDecl& function) {
  if (function.isDefaulted() && function.isTrivial()) {
    return true;
  }
  if (!function.doesThisDeclarationHaveABody()) {
    return false;
  }
  int budget = kNodes;
  if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(&function)) {
    for (const clang::CXXCtorInitializer* init : constructor->inits()) {
      if (!is_small(init->getInit(), budget)) {
        return false;
      }
    }
  }
  return is_small(function.getBody(), budget);
}

bool TrivialOutside::is_small(const clang::Stmt* stmt, int& budget) {
  if (stmt == nullptr) {
    return true;
  }
  if (--budget < 0) {
    return false;
  }
  if (isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt, clang::GotoStmt,
          clang::AsmStmt, clang::CXXNewExpr, clang::CXXDeleteExpr, clang::CXXThrowExpr,
          clang::CXXTryStmt, clang::LambdaExpr>(stmt)) {
    return false;
  }
  if (isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::TypeTraitExpr>(stmt)) {
    return true;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(stmt)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee == nullptr || callee->getBuiltinID() == clang::Builtin::BI__builtin_coro_resume) {
      return false;
    }
    // A failure handler that never returns (std::__glibcxx_assert_fail) costs nothing while the
    // check passes.
    if (!callee->isNoReturn() && !is_compiler_builtin(*callee) && !(*this)(*callee)) {
      return false;
    }
  }
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(stmt)) {
    const clang::CXXConstructorDecl* constructor = construction->getConstructor();
    if (!constructor->isTrivial() && !(*this)(*constructor)) {
      return false;
    }
  }
  for (const clang::Stmt* child : stmt->children()) {
    if (!is_small(child, budget)) {
      return false;
    }
  }
  return true;
}

}  // namespace vprof::instrumenter
