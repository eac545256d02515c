#include "ast/spin_loops.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ast/atomic_access.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Calls of small functions are followed this deep: lock → is_free → load.
constexpr int kMostCalls = 3;

using Locals = std::unordered_set<const clang::VarDecl*>;

const clang::VarDecl* local_of(const clang::Expr& expr) {
  const auto* reference = dyn_cast<clang::DeclRefExpr>(expr.IgnoreParenCasts());
  const auto* variable =
      reference == nullptr ? nullptr : dyn_cast<clang::VarDecl>(reference->getDecl());
  return variable != nullptr && variable->hasLocalStorage() &&
                 !variable->getType()->isReferenceType()
             ? variable
             : nullptr;
}

/// The local variable that an expression changes, if it changes one.
const clang::VarDecl* changed_local(const clang::Stmt& stmt) {
  if (const auto* binary = dyn_cast<clang::BinaryOperator>(&stmt);
      binary != nullptr && binary->isAssignmentOp()) {
    return local_of(*binary->getLHS());
  }
  if (const auto* unary = dyn_cast<clang::UnaryOperator>(&stmt);
      unary != nullptr && unary->isIncrementDecrementOp()) {
    return local_of(*unary->getSubExpr());
  }
  return nullptr;
}

void add_changed_locals(const clang::Stmt* stmt, Locals& changed) {
  if (stmt == nullptr) {
    return;
  }
  if (const clang::VarDecl* local = changed_local(*stmt)) {
    changed.insert(local);
  }
  for (const clang::Stmt* child : stmt->children()) {
    add_changed_locals(child, changed);
  }
}

bool mentions(const clang::Stmt* stmt, const Locals& locals) {
  if (stmt == nullptr) {
    return false;
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(stmt);
  const auto* variable =
      reference == nullptr ? nullptr : dyn_cast<clang::VarDecl>(reference->getDecl());
  return (variable != nullptr && locals.count(variable) != 0) ||
         std::any_of(stmt->child_begin(), stmt->child_end(),
                     [&](const clang::Stmt* child) { return mentions(child, locals); });
}

/// The outermost object that an expression is a part of, as a value of vprof.json.
std::string object_of(const clang::Expr* expr) {
  for (;;) {
    expr = expr->IgnoreParenCasts();
    if (const auto* member = dyn_cast<clang::MemberExpr>(expr)) {
      expr = member->getBase();
    } else if (const auto* subscript = dyn_cast<clang::ArraySubscriptExpr>(expr)) {
      expr = subscript->getBase();
    } else if (const auto* unary = dyn_cast<clang::UnaryOperator>(expr);
               unary != nullptr &&
               (unary->getOpcode() == clang::UO_AddrOf || unary->getOpcode() == clang::UO_Deref)) {
      expr = unary->getSubExpr();
    } else {
      break;
    }
  }
  if (isa<clang::CXXThisExpr>(expr)) {
    return "this";
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(expr);
  const auto* parameter =
      reference == nullptr ? nullptr : dyn_cast<clang::ParmVarDecl>(reference->getDecl());
  if (parameter == nullptr || parameter->getType()->isReferenceType()) {
    return "";
  }
  return fmt::format("arg:{}", parameter->getFunctionScopeIndex());
}

/// Whether a piece of code does nothing but what a spinning loop does, and what it reads.
class Spinning {
 public:
  explicit Spinning(Locals changed) : changed_(std::move(changed)) {}

  /// `decides`: the value decides whether the loop goes on.
  bool is_quiet(const clang::Stmt* stmt, bool decides = false, int calls = 0) {
    if (stmt == nullptr) {
      return true;
    }
    if (const auto* expr = dyn_cast<clang::Expr>(stmt)) {
      return is_quiet_expression(*expr, decides, calls);
    }
    if (const auto* loop = dyn_cast<clang::WhileStmt>(stmt)) {
      return is_quiet(loop->getCond(), true, calls) && is_quiet(loop->getBody(), false, calls);
    }
    if (const auto* loop = dyn_cast<clang::DoStmt>(stmt)) {
      return is_quiet(loop->getCond(), true, calls) && is_quiet(loop->getBody(), false, calls);
    }
    if (const auto* loop = dyn_cast<clang::ForStmt>(stmt)) {
      return is_quiet(loop->getInit(), false, calls) && is_quiet(loop->getCond(), true, calls) &&
             is_quiet(loop->getInc(), false, calls) && is_quiet(loop->getBody(), false, calls);
    }
    if (const auto* branch = dyn_cast<clang::IfStmt>(stmt)) {
      return is_quiet(branch->getInit(), false, calls) &&
             is_quiet(branch->getCond(), true, calls) &&
             is_quiet(branch->getThen(), false, calls) && is_quiet(branch->getElse(), false, calls);
    }
    if (const auto* declaration = dyn_cast<clang::DeclStmt>(stmt)) {
      return std::all_of(declaration->decl_begin(), declaration->decl_end(),
                         [&](const clang::Decl* one) { return is_quiet_variable(*one, calls); });
    }
    if (const auto* result = dyn_cast<clang::ReturnStmt>(stmt)) {
      return is_quiet(result->getRetValue(), decides || calls > 0, calls);
    }
    if (isa<clang::AsmStmt>(stmt)) {  // a pause instruction or a compiler barrier
      yields_ = true;
      return true;
    }
    return isa<clang::CompoundStmt, clang::NullStmt, clang::BreakStmt, clang::ContinueStmt,
               clang::AttributedStmt>(stmt) &&
           children_are_quiet(*stmt, decides, calls);
  }

  /// Whether code that is quiet waits for another thread.
  bool waits() const {
    const bool by_local =
        std::any_of(filled_.begin(), filled_.end(),
                    [&](const clang::VarDecl* local) { return deciding_.count(local) != 0; });
    return reads_ || by_local || (swaps_ && (yields_ || resets_)) ||
           (yields_ && decides_by_shared_);
  }
  const std::string& object() const { return object_; }

 private:
  bool children_are_quiet(const clang::Stmt& stmt, bool decides, int calls) {
    return std::all_of(stmt.child_begin(), stmt.child_end(),
                       [&](const clang::Stmt* child) { return is_quiet(child, decides, calls); });
  }

  bool is_quiet_variable(const clang::Decl& decl, int calls) {
    const auto* variable = dyn_cast<clang::VarDecl>(&decl);
    if (variable == nullptr || !variable->hasLocalStorage() ||
        variable->needsDestruction(decl.getASTContext()) != clang::QualType::DK_none) {
      return false;
    }
    return variable->getInit() == nullptr || fill(*variable, *variable->getInit(), calls);
  }

  /// A local variable takes a value; an atomic read in it decides if the variable does.
  bool fill(const clang::VarDecl& local, const clang::Expr& value, int calls) {
    const bool before = std::exchange(reads_, false);
    const bool quiet = is_quiet(&value, true, calls);
    if (reads_) {
      filled_.insert(&local);
    }
    reads_ = before;
    return quiet;
  }

  bool is_quiet_expression(const clang::Expr& expr, bool decides, int calls) {
    if (const auto* atomic = dyn_cast<clang::AtomicExpr>(&expr)) {
      return note(access_of(*atomic), atomic->getPtr(), decides);
    }
    if (const auto* call = dyn_cast<clang::CallExpr>(&expr)) {
      return is_quiet_call(*call, decides, calls);
    }
    if (const auto* binary = dyn_cast<clang::BinaryOperator>(&expr);
        binary != nullptr && binary->isAssignmentOp()) {
      const clang::VarDecl* local = local_of(*binary->getLHS());
      if (local == nullptr) {
        return false;
      }
      resets_ = resets_ || binary->getRHS()->isEvaluatable(local->getASTContext());
      return fill(*local, *binary->getRHS(), calls);
    }
    if (const auto* unary = dyn_cast<clang::UnaryOperator>(&expr);
        unary != nullptr && unary->isIncrementDecrementOp()) {
      return local_of(*unary->getSubExpr()) != nullptr;
    }
    if (const auto* cast = dyn_cast<clang::CastExpr>(&expr);
        cast != nullptr && cast->getCastKind() == clang::CK_LValueToRValue) {
      return is_quiet_read(*cast->getSubExpr(), decides, calls);
    }
    if (isa<clang::LambdaExpr, clang::CXXNewExpr, clang::CXXDeleteExpr, clang::CXXThrowExpr,
            clang::CXXConstructExpr, clang::StmtExpr, clang::OverloadExpr,
            clang::CXXDependentScopeMemberExpr, clang::CXXUnresolvedConstructExpr>(&expr)) {
      return false;
    }
    return children_are_quiet(expr, decides, calls);
  }

  bool is_quiet_read(const clang::Expr& object, bool decides, int calls) {
    const clang::QualType type = object.getType();
    if (type.isVolatileQualified() || type->isAtomicType()) {
      return note(Access::kRead, &object, decides);
    }
    const clang::VarDecl* local = local_of(object);
    if (decides && local != nullptr) {
      deciding_.insert(local);
    } else if (decides && local == nullptr) {
      decides_by_shared_ = true;
    }
    return children_are_quiet(object, decides, calls);
  }

  bool is_quiet_call(const clang::CallExpr& call, bool decides, int calls) {
    const clang::FunctionDecl* callee = call.getDirectCallee();
    if (callee == nullptr) {
      return false;
    }
    const auto* on_object = dyn_cast<clang::CXXMemberCallExpr>(&call);
    const clang::Expr* object = nullptr;
    if (on_object != nullptr) {
      object = on_object->getImplicitObjectArgument();
    } else if (call.getNumArgs() > 0) {
      object = call.getArg(0);
    }
    const Access access = access_of(*callee);
    if (access != Access::kNone) {
      return note(access, object, decides);
    }
    const clang::FunctionDecl* definition = callee->getDefinition();
    const auto* method = dyn_cast<clang::CXXMethodDecl>(callee);
    const bool is_virtual = method != nullptr && method->isVirtual();
    if (definition == nullptr || calls == kMostCalls || is_virtual || mentions(&call, changed_)) {
      return false;
    }
    const std::string before = std::exchange(object_, "");
    const bool quiet = is_quiet(definition->getBody(), decides, calls + 1);
    object_ = before.empty() ? seen_by_caller(object_, call, on_object) : before;
    return quiet;
  }

  /// The object that the callee names, in terms of its caller.
  static std::string seen_by_caller(const std::string& object, const clang::CallExpr& call,
                                    const clang::CXXMemberCallExpr* on_object) {
    if (object == "this" && on_object != nullptr) {
      return object_of(on_object->getImplicitObjectArgument());
    }
    for (unsigned i = 0; i < call.getNumArgs(); ++i) {
      if (object == fmt::format("arg:{}", i)) {
        return object_of(call.getArg(i));
      }
    }
    return "";
  }

  bool note(Access access, const clang::Expr* object, bool decides) {
    if (access == Access::kNone) {
      return false;
    }
    yields_ = yields_ || access == Access::kYield;
    if (access == Access::kYield || access == Access::kFence) {
      return true;
    }
    // Another object in each round: a search, which waits for nobody.
    if (mentions(object, changed_)) {
      return false;
    }
    if (object_.empty() && object != nullptr) {
      object_ = object_of(object);
    }
    (access == Access::kRead ? reads_ : swaps_) |= decides;
    return true;
  }

  const Locals changed_;
  Locals filled_, deciding_;
  std::string object_;
  bool reads_ = false, swaps_ = false, yields_ = false, resets_ = false;
  bool decides_by_shared_ = false;
};

/// Calls that are not part of spinning.
bool calls_other(const clang::Stmt* stmt, const clang::Stmt& loop) {
  if (stmt == nullptr || stmt == &loop) {
    return false;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(stmt);
      call != nullptr && !isa<clang::AtomicExpr>(stmt)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    const auto* method = dyn_cast_or_null<clang::CXXMethodDecl>(callee);
    const bool atomic =
        callee != nullptr && (access_of(*callee) != Access::kNone ||
                              (method != nullptr && is_atomic_class(*method->getParent())));
    if (!atomic) {
      return true;
    }
  }
  return std::any_of(stmt->child_begin(), stmt->child_end(),
                     [&](const clang::Stmt* child) { return calls_other(child, loop); });
}

void add_spin_loops(const clang::Stmt* stmt, const clang::Stmt& body,
                    const clang::SourceManager& sources, std::vector<SpinLoop>& out) {
  if (stmt == nullptr || isa<clang::LambdaExpr>(stmt)) {
    return;
  }
  if (isa<clang::WhileStmt, clang::DoStmt, clang::ForStmt>(stmt)) {
    Locals changed;
    add_changed_locals(stmt, changed);
    Spinning spinning(std::move(changed));
    if (spinning.is_quiet(stmt) && spinning.waits()) {
      const clang::SourceLocation begin = sources.getExpansionLoc(stmt->getBeginLoc());
      out.push_back(
          {sources.getSpellingLineNumber(begin), spinning.object(), !calls_other(&body, *stmt)});
      return;
    }
  }
  for (const clang::Stmt* child : stmt->children()) {
    add_spin_loops(child, body, sources, out);
  }
}

}  // namespace

std::vector<SpinLoop> spin_loops_of(const clang::FunctionDecl& f,
                                    const clang::SourceManager& sources) {
  std::vector<SpinLoop> loops;
  if (const clang::Stmt* body = f.getBody()) {
    add_spin_loops(body, *body, sources, loops);
  }
  return loops;
}

}  // namespace vprof::instrumenter
