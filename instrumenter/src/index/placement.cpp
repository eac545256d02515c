#include "index/placement.h"

#include <clang/AST/Expr.h>
#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <set>

namespace vprof::instrumenter {

using clang::dyn_cast;
using clang::isa;

/// The piece that is wrapped: the call itself, or the macro expansion that holds it.
struct Placer::Unit {
  const clang::Stmt* stmt;
  size_t depth;  ///< its ancestors are around.ancestors[0..depth)
  TextRange text;
  std::string macro;
  /// The statements of a macro that is several statements of one block; else empty.
  std::vector<const clang::Stmt*> sequence = {};
};

namespace {

bool is_transparent(const clang::Stmt& stmt) {
  return isa<clang::ExprWithCleanups, clang::ImplicitCastExpr, clang::MaterializeTemporaryExpr,
             clang::CXXBindTemporaryExpr, clang::ConstantExpr>(stmt);
}

/// The nearest ancestor that is more than an implicit conversion, and its position.
std::pair<const clang::Stmt*, size_t> parent_of(const std::vector<const clang::Stmt*>& ancestors,
                                                size_t depth) {
  while (depth > 0 && is_transparent(*ancestors[depth - 1])) {
    --depth;
  }
  return depth == 0 ? std::pair<const clang::Stmt*, size_t>{nullptr, 0}
                    : std::pair{ancestors[depth - 1], depth - 1};
}

/// Whether something below `stmt` forbids moving it into a block or statement expression of its
/// own.
const char* obstacle_below(const clang::Stmt& stmt, bool statement_expression,
                           bool in_switch = false) {
  if (statement_expression && isa<clang::CompoundLiteralExpr>(stmt)) {
    return "an argument holds a compound literal, which would die too early";
  }
  // The cases of a switch that lies in the piece as well move with it.
  if (isa<clang::LabelStmt>(stmt) || (isa<clang::SwitchCase>(stmt) && !in_switch)) {
    return "holds a label";
  }
  in_switch = in_switch || isa<clang::SwitchStmt>(stmt);
  if (isa<clang::IndirectGotoStmt, clang::AddrLabelExpr>(stmt)) {
    return "holds a computed goto";
  }
  if (isa<clang::CoawaitExpr, clang::CoyieldExpr>(stmt)) {
    return "holds a suspension point";
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(&stmt)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && needs_callers_frame(*callee)) {
      return "holds a call that needs its caller's frame";
    }
  }
  if (isa<clang::LambdaExpr>(stmt)) {
    return nullptr;
  }
  for (const clang::Stmt* child : stmt.children()) {
    if (child == nullptr) {
      continue;
    }
    if (const char* reason = obstacle_below(*child, statement_expression, in_switch)) {
      return reason;
    }
  }
  return nullptr;
}

/// Whether `&expr` is allowed for an lvalue in C. One that holds a call comes from a pointer or a
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

Placement refuse(Placement placement, std::string reason) {
  placement.form = Form::kRefused;
  placement.reason = std::move(reason);
  return placement;
}

}  // namespace

bool needs_callers_frame(const clang::FunctionDecl& callee) {
  if (callee.hasAttr<clang::ReturnsTwiceAttr>()) {
    return true;
  }
  switch (callee.getBuiltinID()) {
    case clang::Builtin::BI__builtin_alloca:
    case clang::Builtin::BI__builtin_alloca_uninitialized:
    case clang::Builtin::BI__builtin_alloca_with_align:
    case clang::Builtin::BI__builtin_frame_address:
    case clang::Builtin::BI__builtin_return_address:
    case clang::Builtin::BI__builtin_setjmp:
    case clang::Builtin::BI__builtin_va_start:
    case clang::Builtin::BI__builtin_stdarg_start:
      return true;
    default:
      break;
  }
  static const std::set<llvm::StringRef> names{"alloca",      "setjmp",  "_setjmp", "sigsetjmp",
                                               "__sigsetjmp", "savectx", "vfork",   "getcontext"};
  return callee.getIdentifier() != nullptr && names.count(callee.getName()) != 0;
}

bool is_compiler_builtin(const clang::FunctionDecl& callee) {
  const unsigned builtin = callee.getBuiltinID();
  return builtin != 0 && !callee.getASTContext().BuiltinInfo.isPredefinedLibFunction(builtin);
}

bool is_cheap_library_call(const clang::CallExpr& call, clang::ASTContext& context) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || callee->getBuiltinID() == 0 || callee->getIdentifier() == nullptr) {
    return false;
  }
  static const std::set<llvm::StringRef> always{
      "abs",        "labs",        "llabs",   "fabs",    "floor",   "ceil",    "sqrt",
      "isdigit",    "isalpha",     "isalnum", "isspace", "isupper", "islower", "isxdigit",
      "ispunct",    "isprint",     "iscntrl", "tolower", "toupper", "strcmp",  "strncmp",
      "strcasecmp", "strncasecmp", "strlen",  "strchr",  "strrchr", "memcmp",  "memchr"};
  static const std::set<llvm::StringRef> sized{"memcpy", "memset", "memmove",
                                               "bzero",  "bcopy",  "mempcpy"};
  const llvm::StringRef name = callee->getName();
  if (always.count(name) != 0) {
    return true;
  }
  if (sized.count(name) == 0) {
    return false;
  }
  constexpr int64_t kCheapBytes = 1024;
  const clang::Expr* size = call.getArg(call.getNumArgs() - 1);
  clang::Expr::EvalResult value;
  return !size->isValueDependent() && size->EvaluateAsInt(value, context) &&
         value.Val.getInt() <= kCheapBytes;
}

Placer::Placer(clang::ASTContext& context)
    : context_(context), sources_(context.getSourceManager()), language_(context.getLangOpts()) {}

std::optional<TextRange> Placer::text_of(const clang::Stmt& stmt) const {
  clang::SourceLocation begin = stmt.getBeginLoc();
  clang::SourceLocation end = stmt.getEndLoc();
  if (begin.isInvalid() || end.isInvalid()) {
    return std::nullopt;
  }
  // Never the spelling of a macro argument: it may be expanded more than once, or turned into a
  // string.
  if (begin.isMacroID() &&
      !clang::Lexer::isAtStartOfMacroExpansion(begin, sources_, language_, &begin)) {
    return std::nullopt;
  }
  if (end.isMacroID() && !clang::Lexer::isAtEndOfMacroExpansion(end, sources_, language_, &end)) {
    return std::nullopt;
  }
  const auto [begin_file, begin_offset] = sources_.getDecomposedLoc(begin);
  const auto [end_file, end_offset] = sources_.getDecomposedLoc(end);
  const unsigned last = clang::Lexer::MeasureTokenLength(end, sources_, language_);
  if (begin_file != end_file || end_offset + last <= begin_offset) {
    return std::nullopt;
  }
  return TextRange{begin_file, begin_offset, end_offset + last};
}

std::optional<Placer::Unit> Placer::unit_to_wrap(const clang::Expr& call,
                                                 const Surroundings& around) const {
  const size_t depth = around.ancestors.size();
  if (call.getBeginLoc().isFileID()) {
    const std::optional<TextRange> text = text_of(call);
    if (!text) {
      return std::nullopt;
    }
    return Unit{&call, depth, *text, ""};
  }
  // The smallest piece of the tree that is exactly the outermost expansion the call stems from. A
  // call whose callee alone comes from a macro (`#define call f` … `call(x)`) counts with its
  // arguments.
  const clang::SourceLocation in_macro = call.getBeginLoc();
  const clang::CharSourceRange expansion = sources_.getExpansionRange(in_macro);
  const auto [file, begin] = sources_.getDecomposedLoc(expansion.getBegin());
  unsigned end = sources_.getFileOffset(expansion.getEnd());
  if (expansion.isTokenRange()) {
    end += clang::Lexer::MeasureTokenLength(expansion.getEnd(), sources_, language_);
  }
  const std::string macro =
      clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(expansion.getBegin()),
                                  sources_, language_)
          .str();
  for (size_t i = depth + 1; i-- > 0;) {
    const clang::Stmt* stmt = i == depth ? &call : around.ancestors[i];
    const std::optional<TextRange> text = text_of(*stmt);
    if (!text) {
      continue;
    }
    if (text->file != file || text->begin > begin || text->end < end) {
      continue;
    }
    const bool exact = text->begin == begin && text->end == end;
    const bool callee_only = i == depth && text->begin == begin;
    if (isa<clang::DeclStmt>(stmt)) {
      return std::nullopt;  // what it declares is used behind it
    }
    if (exact || callee_only) {
      return Unit{stmt, i, *text, macro};
    }
    const auto* block = dyn_cast<clang::CompoundStmt>(stmt);
    if (block == nullptr) {
      return std::nullopt;
    }
    std::vector<const clang::Stmt*> sequence = statements_of_expansion(*block, expansion);
    if (sequence.empty()) {
      return std::nullopt;
    }
    return Unit{sequence.front(), i + 1, {file, begin, end}, macro, std::move(sequence)};
  }
  return std::nullopt;
}

/// The statements of `block` that one macro expansion consists of: `#define M(x) f(x); g(x);`.
/// Empty if it holds anything else, a part of a statement or a declaration.
std::vector<const clang::Stmt*> Placer::statements_of_expansion(
    const clang::CompoundStmt& block, const clang::CharSourceRange& expansion) const {
  std::vector<const clang::Stmt*> sequence;
  const auto is_of_it = [&](clang::SourceLocation place) {
    return place.isMacroID() &&
           sources_.getExpansionRange(place).getBegin() == expansion.getBegin();
  };
  for (const clang::Stmt* stmt : block.body()) {
    const bool begins = is_of_it(stmt->getBeginLoc());
    if (begins != is_of_it(stmt->getEndLoc())) {
      return {};
    }
    if (!begins) {
      continue;
    }
    if (isa<clang::DeclStmt>(stmt)) {
      return {};
    }
    sequence.push_back(stmt);
  }
  if (sequence.empty() || !clang::Lexer::isAtStartOfMacroExpansion(sequence.front()->getBeginLoc(),
                                                                   sources_, language_)) {
    return {};
  }
  return sequence;
}

bool Placer::is_statement(const Unit& unit, const Surroundings& around) const {
  auto [parent, depth] = parent_of(around.ancestors, unit.depth);
  const clang::Stmt* child = unit.depth > depth + 1 ? around.ancestors[depth + 1] : unit.stmt;
  while (parent != nullptr) {
    if (const auto* block = dyn_cast<clang::CompoundStmt>(parent)) {
      const bool value_of_stmt_expr = depth > 0 &&
                                      isa<clang::StmtExpr>(around.ancestors[depth - 1]) &&
                                      block->body_back() == child;
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
    if (const auto* s = dyn_cast<clang::SwitchCase>(parent);
        s != nullptr && child != s->getSubStmt()) {
      return false;
    }
    if (!isa<clang::LabelStmt, clang::SwitchCase>(parent)) {
      return false;
    }
    // A label: what matters is where the labelled statement stands.
    child = parent;
    if (depth == 0) {
      return false;
    }
    --depth;
    parent = around.ancestors[depth];
  }
  return false;
}

/// Offset just behind the `;` that follows the text; none if something else follows.
std::optional<unsigned> Placer::semicolon_after(const TextRange& text) const {
  const clang::SourceLocation last =
      sources_.getLocForStartOfFile(text.file).getLocWithOffset(static_cast<int>(text.end) - 1);
  const clang::SourceLocation token = clang::Lexer::GetBeginningOfToken(last, sources_, language_);
  const std::optional<clang::Token> next = clang::Lexer::findNextToken(token, sources_, language_);
  if (!next || !next->is(clang::tok::semi) || next->getLocation().isMacroID()) {
    return std::nullopt;
  }
  const auto [file, offset] = sources_.getDecomposedLoc(next->getLocation());
  if (file != text.file) {
    return std::nullopt;
  }
  return offset + 1;
}

Placement Placer::expression_form(const Unit& unit, const Surroundings& around,
                                  Placement placement) const {
  const auto* expr = dyn_cast<clang::Expr>(unit.stmt);
  if (expr == nullptr) {
    return refuse(std::move(placement), "inside a macro that is not an expression");
  }
  const clang::Stmt* direct_parent = unit.depth > 0 ? around.ancestors[unit.depth - 1] : nullptr;
  const auto* conversion =
      direct_parent == nullptr ? nullptr : dyn_cast<clang::ImplicitCastExpr>(direct_parent);
  if (!language_.CPlusPlus) {
    const bool only_read =
        conversion != nullptr && conversion->getCastKind() == clang::CK_LValueToRValue;
    const bool is_array = expr->getType()->isArrayType();
    placement.form = Form::kExpression;
    if (!expr->isGLValue() || (only_read && !is_array)) {
      if (is_array) {
        return refuse(std::move(placement), "the macro is an array");
      }
      return placement;
    }
    if (!has_address(*expr)) {
      return refuse(std::move(placement), "the macro has no address");
    }
    placement.form = Form::kLvalue;
    return placement;
  }
  if (around.constructor_initialiser) {
    return refuse(std::move(placement), "in a constructor's initialiser list");
  }
  if (around.handler_of_function_try) {
    return refuse(std::move(placement), "in the handler of a function try block");
  }
  if (expr->isTypeDependent() || expr->getType()->isDependentType()) {
    return refuse(std::move(placement), "its type depends on a template parameter");
  }
  if (expr->getType()->isVoidType()) {
    placement.form = Form::kVoid;
    return placement;
  }
  if (expr->isPRValue() && expr->getType()->isRecordType()) {
    if (!language_.CPlusPlus17) {
      return refuse(std::move(placement), "yields a class by value before C++17");
    }
    placement.form = Form::kGuard;
    return placement;
  }
  if (expr->isXValue() && !expr->getType()->isRecordType()) {
    return refuse(std::move(placement), "yields an rvalue reference to a scalar");
  }
  if (expr->isGLValue() &&
      (expr->getType()->isFunctionType() || expr->getObjectKind() != clang::OK_Ordinary)) {
    return refuse(std::move(placement), "yields a function or a bit-field");
  }
  placement.form = Form::kValue;
  return placement;
}

Placement Placer::place_sequence(const Unit& unit, Placement placement) const {
  for (const clang::Stmt* stmt : unit.sequence) {
    if (const char* reason = obstacle_below(*stmt, false)) {
      return refuse(std::move(placement), reason);
    }
  }
  placement.text.end = semicolon_after(unit.text).value_or(unit.text.end);
  placement.form = Form::kStatement;
  return placement;
}

Placement Placer::place(const clang::Expr& call, const Surroundings& around) const {
  Placement placement;
  const clang::SourceLocation start = sources_.getExpansionLoc(call.getBeginLoc());
  const auto [file, offset] = sources_.getDecomposedLoc(start);
  placement.text = {file, offset, offset};
  const std::optional<Unit> unit = unit_to_wrap(call, around);
  if (!unit) {
    if (call.getBeginLoc().isMacroID()) {
      return refuse(std::move(placement),
                    "inside a macro that is neither an expression nor a statement");
    }
    return refuse(std::move(placement), "its text is not in one piece");
  }
  placement.text = unit->text;
  placement.macro = unit->macro;
  placement.full_expr = unit->text.begin;
  for (size_t i = unit->depth; i > 0; --i) {
    const clang::Stmt* ancestor = around.ancestors[i - 1];
    if (!isa<clang::Expr>(ancestor) || isa<clang::StmtExpr>(ancestor)) {
      break;
    }
    if (ancestor->getBeginLoc().isValid()) {
      placement.full_expr =
          sources_.getFileOffset(sources_.getExpansionLoc(ancestor->getBeginLoc()));
    }
  }
  for (const clang::Stmt* ancestor : around.ancestors) {
    if (isa<clang::AsmStmt>(ancestor)) {
      return refuse(std::move(placement), "operand of an asm statement");
    }
  }

  if (!unit->sequence.empty()) {
    return place_sequence(*unit, std::move(placement));
  }
  const bool statement = is_statement(*unit, around);
  if (statement) {
    if (const char* reason = obstacle_below(*unit->stmt, false)) {
      return refuse(std::move(placement), reason);
    }
    const std::optional<unsigned> end = semicolon_after(unit->text);
    const bool complete = !isa<clang::Expr>(unit->stmt) && !end;  // a macro that is a whole block
    if (end || complete) {
      placement.text.end = end.value_or(unit->text.end);
      placement.form = Form::kStatement;
      return placement;
    }
  }
  if (const char* reason = obstacle_below(*unit->stmt, !language_.CPlusPlus)) {
    return refuse(std::move(placement), reason);
  }
  return expression_form(*unit, around, std::move(placement));
}

}  // namespace vprof::instrumenter
