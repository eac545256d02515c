#include "ast/control_flow.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "ast/callee_kinds.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Of a condition that is constant.
std::optional<bool> value_of(const clang::Expr& condition, const clang::ASTContext& context) {
  bool value = true;
  if (condition.isValueDependent() || !condition.EvaluateAsBooleanCondition(value, context)) {
    return std::nullopt;
  }
  return value;
}

/// Ends at a statement that leaves the loop.
class FindsExit : public clang::RecursiveASTVisitor<FindsExit> {
 public:
  explicit FindsExit(clang::Stmt* body) : body_(body) { Labels{*this}.TraverseStmt(body); }
  bool found() { return !TraverseStmt(body_); }

  // Statements of a lambda leave only that.
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool VisitReturnStmt(clang::ReturnStmt*) { return false; }
  bool VisitIndirectGotoStmt(clang::IndirectGotoStmt*) { return false; }
  bool VisitGotoStmt(clang::GotoStmt* jump) { return inside_.contains(jump->getLabel()); }
  bool VisitBreakStmt(clang::BreakStmt*) { return depth_ > 0; }

  bool TraverseForStmt(clang::ForStmt* s) {
    return within([&] { return Base::TraverseForStmt(s); });
  }
  bool TraverseWhileStmt(clang::WhileStmt* s) {
    return within([&] { return Base::TraverseWhileStmt(s); });
  }
  bool TraverseDoStmt(clang::DoStmt* s) {
    return within([&] { return Base::TraverseDoStmt(s); });
  }
  bool TraverseSwitchStmt(clang::SwitchStmt* s) {
    return within([&] { return Base::TraverseSwitchStmt(s); });
  }
  bool TraverseCXXForRangeStmt(clang::CXXForRangeStmt* s) {
    return within([&] { return Base::TraverseCXXForRangeStmt(s); });
  }

 private:
  using Base = clang::RecursiveASTVisitor<FindsExit>;

  struct Labels : clang::RecursiveASTVisitor<Labels> {
    explicit Labels(FindsExit& owner) : owner_(owner) {}
    bool VisitLabelStmt(clang::LabelStmt* label) {
      owner_.inside_.insert(label->getDecl());
      return true;
    }
    FindsExit& owner_;
  };

  template <class Traverse>
  bool within(const Traverse& traverse) {
    ++depth_;
    const bool go_on = traverse();
    --depth_;
    return go_on;
  }

  clang::Stmt* body_;
  std::unordered_set<const clang::LabelDecl*> inside_;
  int depth_ = 0;  // of loops and switches in the body
};

class FindsEndlessLoop : public clang::RecursiveASTVisitor<FindsEndlessLoop> {
 public:
  explicit FindsEndlessLoop(const clang::ASTContext& context) : context_(context) {}
  bool VisitForStmt(clang::ForStmt* s) { return !is_endless(s->getCond(), s->getBody()); }
  bool VisitWhileStmt(clang::WhileStmt* s) { return !is_endless(s->getCond(), s->getBody()); }
  bool VisitDoStmt(clang::DoStmt* s) { return !is_endless(s->getCond(), s->getBody()); }

 private:
  bool is_endless(const clang::Expr* condition, clang::Stmt* body) const {
    const std::optional<bool> always = condition == nullptr ? true : value_of(*condition, context_);
    return always.value_or(false) && !FindsExit(body).found();
  }

  const clang::ASTContext& context_;
};

/// Ends at such a statement.
class FindsGuaranteedTailCall : public clang::RecursiveASTVisitor<FindsGuaranteedTailCall> {
 public:
  // A lambda is a function of its own.
  bool TraverseLambdaExpr(clang::LambdaExpr*) { return true; }
  bool VisitAttributedStmt(clang::AttributedStmt* s) {
    return !clang::hasSpecificAttr<clang::MustTailAttr>(s->getAttrs());
  }
};

}  // namespace

bool is_loop(const clang::Stmt& stmt, const clang::ASTContext& context) {
  if (const auto* once = dyn_cast<clang::DoStmt>(&stmt)) {
    return value_of(*once->getCond(), context).value_or(true);
  }
  return isa<clang::ForStmt, clang::WhileStmt, clang::CXXForRangeStmt>(stmt);
}

bool never_completes(const clang::Stmt& stmt, const clang::ASTContext& context) {
  const auto never = [&](const clang::Stmt* part) {
    return part != nullptr && never_completes(*part, context);
  };
  if (const auto* block = dyn_cast<clang::CompoundStmt>(&stmt)) {
    return std::ranges::any_of(block->body(), never);
  }
  if (const auto* branch = dyn_cast<clang::IfStmt>(&stmt)) {
    const auto taken = value_of(*branch->getCond(), context);
    return (taken == false || never(branch->getThen())) &&
           (taken == true || never(branch->getElse()));
  }
  if (const auto* loop = dyn_cast<clang::DoStmt>(&stmt)) {
    return never(loop->getBody());
  }
  const auto* expr = dyn_cast<clang::Expr>(&stmt);
  const auto* call =
      expr == nullptr ? nullptr : dyn_cast<clang::CallExpr>(expr->IgnoreParenCasts());
  const clang::FunctionDecl* callee = call == nullptr ? nullptr : call->getDirectCallee();
  return callee != nullptr && (never_returns(*callee) ||
                               callee->getBuiltinID() == clang::Builtin::BI__builtin_unreachable);
}

bool has_endless_loop(const clang::FunctionDecl& function) {
  return !FindsEndlessLoop(function.getASTContext()).TraverseStmt(function.getBody());
}

bool has_guaranteed_tail_call(const clang::FunctionDecl& function) {
  return !FindsGuaranteedTailCall().TraverseStmt(function.getBody());
}

}  // namespace vprof::instrumenter
