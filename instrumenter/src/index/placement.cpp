#include "index/placement.h"

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>

#include "ast/callee_kinds.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

bool is_transparent(const clang::Stmt& stmt) {
  return isa<clang::ExprWithCleanups, clang::ImplicitCastExpr, clang::MaterializeTemporaryExpr,
             clang::CXXBindTemporaryExpr, clang::ConstantExpr>(stmt);
}

/// The nearest ancestor that is more than an implicit conversion, and its position.
std::pair<const clang::Stmt*, size_t> parent_of(const Ancestors& ancestors, size_t depth) {
  while (depth > 0 && is_transparent(*ancestors[depth - 1])) {
    --depth;
  }
  return depth == 0 ? std::pair<const clang::Stmt*, size_t>{nullptr, 0}
                    : std::pair{ancestors[depth - 1], depth - 1};
}

bool is_suspension(const clang::Stmt& stmt) {
  return isa<clang::CoawaitExpr, clang::CoyieldExpr, clang::DependentCoawaitExpr>(stmt);
}

bool has_suspension(const clang::Stmt& stmt) {
  if (is_suspension(stmt)) {
    return true;
  }
  return !isa<clang::LambdaExpr>(stmt) &&
         std::ranges::any_of(stmt.children(), [](const clang::Stmt* child) {
           return child != nullptr && has_suspension(*child);
         });
}

/// The outermost expression around one with these ancestors.
const clang::Stmt& full_expression_of(const clang::Stmt& stmt, const Ancestors& ancestors,
                                      size_t depth) {
  const clang::Stmt* full = &stmt;
  while (depth > 0 && isa<clang::Expr>(ancestors[depth - 1]) &&
         !isa<clang::StmtExpr>(ancestors[depth - 1])) {
    full = ancestors[--depth];
  }
  return *full;
}

/// Why `stmt` cannot move into a block or a statement expression of its own: something in it
/// forbids that. kNone: it can.
Reason obstacle_below(const clang::Stmt& stmt, bool statement_expression, bool in_switch = false) {
  if (statement_expression && isa<clang::CompoundLiteralExpr>(stmt)) {
    return Reason::kCompoundLiteral;
  }
  // The cases of a switch move with the switch if that is part of the piece.
  if (isa<clang::LabelStmt>(stmt) || (isa<clang::SwitchCase>(stmt) && !in_switch)) {
    return Reason::kLabel;
  }
  in_switch = in_switch || isa<clang::SwitchStmt>(stmt);
  if (isa<clang::IndirectGotoStmt, clang::AddrLabelExpr>(stmt)) {
    return Reason::kComputedGoto;
  }
  if (is_suspension(stmt)) {
    return Reason::kSuspensionPoint;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && needs_callers_frame(*callee)) {
      return Reason::kHoldsCallersFrame;
    }
  }
  if (isa<clang::LambdaExpr>(stmt)) {
    return Reason::kNone;
  }
  for (const clang::Stmt* child : stmt.children()) {
    if (child == nullptr) {
      continue;
    }
    if (const Reason reason = obstacle_below(*child, statement_expression, in_switch);
        reason != Reason::kNone) {
      return reason;
    }
  }
  return Reason::kNone;
}

/// Whether C allows `&expr` for an lvalue. One that contains a call comes from a pointer or a
/// subscript, so only its last member access can forbid it, or an array in a register.
bool has_address(const clang::Expr& expr) {
  if (expr.getObjectKind() != clang::OK_Ordinary || expr.getType()->isFunctionType()) {
    return false;
  }
  const clang::Expr* base = expr.IgnoreParenImpCasts();
  for (;;) {
    if (const auto* member = dyn_cast<clang::MemberExpr>(base);
        member != nullptr && !member->isArrow()) {
      base = member->getBase()->IgnoreParenImpCasts();
    } else if (const auto* subscript = dyn_cast<clang::ArraySubscriptExpr>(base)) {
      base = subscript->getBase()->IgnoreParenImpCasts();
    } else {
      break;
    }
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(base);
  const auto* variable =
      reference == nullptr ? nullptr : dyn_cast<clang::VarDecl>(reference->getDecl());
  return variable == nullptr || variable->getStorageClass() != clang::SC_Register;
}

/// A form, or why there is none.
struct Choice {
  Choice(Form chosen) : form(chosen) {}                      // NOLINT(google-explicit-constructor)
  Choice(Reason why) : form(Form::kRefused), reason(why) {}  // NOLINT(google-explicit-constructor)
  Form form;
  Reason reason = Reason::kNone;
};

/// Whether the piece is a whole statement.
bool is_statement(const WrappedPiece& piece, const Ancestors& ancestors) {
  auto [parent, depth] = parent_of(ancestors, piece.depth);
  const clang::Stmt* child = piece.depth > depth + 1 ? ancestors[depth + 1] : piece.stmt;
  while (parent != nullptr) {
    if (const auto* block = dyn_cast<clang::CompoundStmt>(parent)) {
      const bool value_of_stmt_expr =
          depth > 0 && isa<clang::StmtExpr>(ancestors[depth - 1]) && block->body_back() == child;
      return !value_of_stmt_expr;
    }
    if (const auto* s = dyn_cast<clang::IfStmt>(parent)) {
      return child == s->getThen() || child == s->getElse();
    }
    if (const auto* s = dyn_cast<clang::WhileStmt>(parent)) {
      return child == s->getBody();
    }
    if (const auto* s = dyn_cast<clang::DoStmt>(parent)) {
      return child == s->getBody();
    }
    if (const auto* s = dyn_cast<clang::ForStmt>(parent)) {
      return child == s->getBody();
    }
    if (const auto* s = dyn_cast<clang::CXXForRangeStmt>(parent)) {
      return child == s->getBody();
    }
    if (const auto* s = dyn_cast<clang::OMPExecutableDirective>(parent)) {
      return child == s->getRawStmt();
    }
    if (const auto* s = dyn_cast<clang::SwitchCase>(parent);
        s != nullptr && child != s->getSubStmt()) {
      return false;
    }
    if (!isa<clang::LabelStmt, clang::SwitchCase>(parent)) {
      return false;
    }
    // A label: what matters is where the labelled statement is.
    child = parent;
    if (depth == 0) {
      return false;
    }
    --depth;
    parent = ancestors[depth];
  }
  return false;
}

/// The form of an expression in C.
Choice form_in_c(const clang::Expr& expr, const clang::Stmt* parent) {
  const auto* conversion = dyn_cast_or_null<clang::ImplicitCastExpr>(parent);
  const bool only_read =
      conversion != nullptr && conversion->getCastKind() == clang::CK_LValueToRValue;
  const bool is_array = expr.getType()->isArrayType();
  if (!expr.isGLValue()) {
    return is_array ? Choice(Reason::kMacroArray) : Choice(Form::kExpression);
  }
  if (only_read && !is_array) {
    return Form::kExpression;
  }
  return has_address(expr) ? Choice(Form::kLvalue) : Choice(Reason::kMacroNoAddress);
}

/// A vector, which only functions for the same processor (`__attribute__((target("avx512f")))`) can
/// pass to each other. Those of the runtime are for any.
bool is_vector(const clang::QualType& type) {
  return type->isVectorType() || type->isSizelessVectorType();
}

/// The form of an expression in C++.
Choice form_in_cxx(const clang::Expr& expr, const Surroundings& around, bool is_cxx17) {
  const clang::QualType type = expr.getType();
  if (around.constructor_initialiser) {
    return Reason::kConstructorInitialiser;
  }
  if (around.handler_of_function_try) {
    return Reason::kFunctionTryHandler;
  }
  if (expr.isTypeDependent() || type->isDependentType()) {
    return Reason::kDependentType;
  }
  // Otherwise there is state in the frame of the function.
  const bool guarded = expr.isPRValue() && (type->isRecordType() || is_vector(type));
  if (around.parallel_region && !guarded) {
    return Reason::kParallelRegion;
  }
  if (type->isVoidType()) {
    return Form::kVoid;
  }
  if (guarded) {
    return is_cxx17 || is_vector(type) ? Choice(Form::kGuard) : Choice(Reason::kClassByValue);
  }
  if (expr.isXValue() && !type->isRecordType()) {
    return Reason::kScalarXvalue;
  }
  if (expr.isGLValue() && (type->isFunctionType() || expr.getObjectKind() != clang::OK_Ordinary)) {
    return Reason::kFunctionOrBitField;
  }
  return Form::kValue;
}

Choice form_of_expression(const WrappedPiece& piece, const Surroundings& around,
                          const clang::LangOptions& language) {
  const auto* expr = dyn_cast<clang::Expr>(piece.stmt);
  if (expr == nullptr) {
    return Reason::kMacroNotExpression;
  }
  const clang::Stmt* parent = piece.depth > 0 ? around.ancestors[piece.depth - 1] : nullptr;
  return language.CPlusPlus ? form_in_cxx(*expr, around, language.CPlusPlus17)
                            : form_in_c(*expr, parent);
}

}  // namespace

Placer::Placer(clang::ASTContext& context)
    : source_text_(context),
      sources_(context.getSourceManager()),
      language_(context.getLangOpts()) {}

/// Offset of the outermost expression around the piece, also if the piece is in a statement
/// expression in it.
unsigned Placer::full_expression(const WrappedPiece& piece, const Ancestors& ancestors) const {
  unsigned begin = piece.text.begin;
  for (size_t i = piece.depth; i > 0; --i) {
    const clang::Stmt* ancestor = ancestors[i - 1];
    if (isa<clang::Expr>(ancestor) && ancestor->getBeginLoc().isValid()) {
      begin = sources_.getFileOffset(sources_.getExpansionLoc(ancestor->getBeginLoc()));
    }
  }
  return begin;
}

/// The rules, in the order in which they are tried. `placement.text` grows to the `;` of a
/// statement.
void Placer::choose_form(const WrappedPiece& piece, const Surroundings& around,
                         Placement& placement) const {
  const auto take = [&](Choice choice) {
    placement.form = choice.form;
    placement.reason = choice.reason;
  };
  if (std::any_of(around.ancestors.begin(), around.ancestors.end(),
                  [](const clang::Stmt* ancestor) { return isa<clang::AsmStmt>(ancestor); })) {
    return take(Reason::kAsmOperand);
  }
  for (const clang::Stmt* stmt : piece.sequence) {
    if (const Reason reason = obstacle_below(*stmt, false); reason != Reason::kNone) {
      return take(reason);
    }
  }
  if (!piece.sequence.empty()) {
    placement.text.end = source_text_.semicolon_after(piece.text).value_or(piece.text.end);
    return take(Form::kStatement);
  }
  if (is_statement(piece, around.ancestors)) {
    if (const Reason reason = obstacle_below(*piece.stmt, false); reason != Reason::kNone) {
      return take(reason);
    }
    const std::optional<unsigned> end = source_text_.semicolon_after(piece.text);
    const bool is_block = !isa<clang::Expr>(piece.stmt);  // a macro that is a whole block
    if (end || is_block) {
      placement.text.end = end.value_or(piece.text.end);
      return take(Form::kStatement);
    }
  }
  const bool in_statement_expression = !language_.CPlusPlus;
  if (const Reason reason = obstacle_below(*piece.stmt, in_statement_expression);
      reason != Reason::kNone) {
    return take(reason);
  }
  take(form_of_expression(piece, around, language_));
  // The guard of a call would last until the coroutine goes on, perhaps on another thread.
  if (placement.form == Form::kGuard &&
      has_suspension(full_expression_of(*piece.stmt, around.ancestors, piece.depth))) {
    const bool awaited = std::ranges::any_of(
        around.ancestors, [](const clang::Stmt* ancestor) { return is_suspension(*ancestor); });
    take(awaited ? Reason::kAwaited : Reason::kSuspensionPoint);
  }
}

Placement Placer::place(const clang::Expr& call, const Surroundings& around) const {
  Placement placement;
  const clang::SourceLocation start = sources_.getExpansionLoc(call.getBeginLoc());
  const auto [file, offset] = sources_.getDecomposedLoc(start);
  placement.text = {file, offset, offset};
  const std::optional<WrappedPiece> piece = source_text_.piece_around(call, around.ancestors);
  if (!piece) {
    placement.reason = call.getBeginLoc().isMacroID() ? Reason::kMacroFragment : Reason::kScattered;
    return placement;
  }
  placement.text = piece->text;
  placement.macro = piece->macro;
  placement.macro_definition = piece->macro_definition;
  placement.full_expr = full_expression(*piece, around.ancestors);
  choose_form(*piece, around, placement);
  return placement;
}

Placement Placer::place_statement(const clang::Stmt& stmt, const Surroundings& around) const {
  Placement placement;
  const auto [file, offset] = sources_.getDecomposedExpansionLoc(stmt.getBeginLoc());
  placement.text = {file, offset, offset};
  placement.full_expr = offset;
  const std::optional<TextRange> text = source_text_.text_of(stmt);
  if (!text) {
    placement.reason = Reason::kScattered;
    return placement;
  }
  placement.text = *text;
  choose_form({&stmt, around.ancestors.size(), *text, "", {}}, around, placement);
  return placement;
}

}  // namespace vprof::instrumenter
