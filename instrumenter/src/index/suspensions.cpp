#include "index/suspensions.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include <algorithm>
#include <iterator>

#include "ast/decl_names.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Without what the text does not show.
const clang::Expr* plain(const clang::Expr* expr) {
  const clang::Expr* before = nullptr;
  while (expr != before) {
    before = expr;
    expr = expr->IgnoreParenImpCasts()->IgnoreImplicit();
    const auto* made = dyn_cast<clang::CXXConstructExpr>(expr);
    if (made != nullptr && made->getNumArgs() == 1 && !isa<clang::CXXTemporaryObjectExpr>(made) &&
        made->getConstructor()->isCopyOrMoveConstructor()) {
      expr = made->getArg(0);
    }
  }
  return expr;
}

/// The name of what is called; in a template it may be all that is known. Empty: it has none.
llvm::StringRef name_called(const clang::CallExpr& call) {
  clang::DeclarationName name;
  if (const clang::FunctionDecl* callee = call.getDirectCallee()) {
    name = callee->getDeclName();
  } else if (const auto* overloaded =
                 dyn_cast<clang::OverloadExpr>(call.getCallee()->IgnoreParenImpCasts())) {
    name = overloaded->getName();
  }
  return name.isIdentifier() && !name.isEmpty() ? name.getAsIdentifierInfo()->getName() : "";
}

/// The object behind `std::move(object)` and `std::forward<T>(object)`.
const clang::Expr* without_move(const clang::Expr* operand) {
  const auto* call = dyn_cast<clang::CallExpr>(operand);
  if (call == nullptr || call->getNumArgs() != 1) {
    return operand;
  }
  const llvm::StringRef name = name_called(*call);
  return name == "move" || name == "forward" ? plain(call->getArg(0)) : operand;
}

/// What is awaited, as written. Of a co_yield the operand is the call of `yield_value` that the
/// language adds, perhaps inside one of `operator co_await`.
const clang::Expr* operand_of(const clang::Expr& expr) {
  if (const auto* await = dyn_cast<clang::CoawaitExpr>(&expr)) {
    return await->isImplicit() ? nullptr : await->getOperand();
  }
  if (const auto* await = dyn_cast<clang::DependentCoawaitExpr>(&expr)) {
    return await->getOperand();
  }
  const auto* yield = dyn_cast<clang::CoyieldExpr>(&expr);
  if (yield == nullptr) {
    return nullptr;
  }
  const clang::Expr* operand = yield->getOperand();
  for (;;) {
    const auto* call = dyn_cast<clang::CallExpr>(operand->IgnoreParenImpCasts()->IgnoreImplicit());
    if (call == nullptr || call->getBeginLoc() != yield->getKeywordLoc() ||
        call->getNumArgs() == 0) {
      return operand;
    }
    operand = call->getArg(0);
  }
}

/// Whether the value is a temporary that the expression around only refers to.
bool is_referred_to(const Ancestors& ancestors) {
  for (size_t i = ancestors.size(); i-- > 0;) {
    if (const auto* made = dyn_cast<clang::MaterializeTemporaryExpr>(ancestors[i])) {
      return made->getStorageDuration() == clang::SD_FullExpression;
    }
    if (!isa<clang::CXXBindTemporaryExpr, clang::ImplicitCastExpr>(ancestors[i])) {
      return false;
    }
  }
  return false;
}

bool is_full_expression(const Ancestors& ancestors) {
  for (size_t i = ancestors.size(); i-- > 0;) {
    if (!isa<clang::ExprWithCleanups, clang::ImplicitCastExpr, clang::MaterializeTemporaryExpr,
             clang::CXXBindTemporaryExpr, clang::ParenExpr>(ancestors[i])) {
      return !isa<clang::Expr>(ancestors[i]);
    }
  }
  return true;
}

/// How the text around learns that the coroutine goes on: at the end of the full expression, or at
/// once. A class that is returned by value can be passed on only where it would become a temporary
/// anyway.
Form form_of(const clang::Expr& expr, const Ancestors& ancestors) {
  const clang::QualType type = expr.getType();
  if (is_full_expression(ancestors) || expr.isTypeDependent() || type->isDependentType()) {
    return Form::kGuard;
  }
  if (type->isVoidType()) {
    return Form::kVoid;
  }
  const bool object = type->isRecordType();
  if (expr.isPRValue() ? object && !is_referred_to(ancestors) : expr.isXValue() && !object) {
    return Form::kGuard;
  }
  return expr.getObjectKind() == clang::OK_Ordinary && !type->isFunctionType() ? Form::kValue
                                                                               : Form::kGuard;
}

}  // namespace

const clang::Stmt* written_operand(const clang::Stmt& stmt) {
  if (const auto* result = dyn_cast<clang::CoreturnStmt>(&stmt)) {
    return result->getOperand();
  }
  const auto* expr = dyn_cast<clang::Expr>(&stmt);
  return expr == nullptr ? nullptr : operand_of(*expr);
}

std::string class_name(clang::QualType type) {
  if (type.isNull()) {
    return "";
  }
  type = type.getNonReferenceType().getCanonicalType().getUnqualifiedType();
  if (const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl()) {
    return record->getQualifiedNameAsString();
  }
  if (const auto* specialization = type->getAs<clang::TemplateSpecializationType>()) {
    if (const clang::TemplateDecl* made = specialization->getTemplateName().getAsTemplateDecl()) {
      return made->getQualifiedNameAsString();
    }
  }
  return "";
}

SuspensionCollector::SuspensionCollector(clang::ASTContext& context, const TreePath& tree_path,
                                         Function& function)
    : sources_(context.getSourceManager()),
      language_(context.getLangOpts()),
      tree_path_(tree_path),
      source_text_(context),
      function_(function) {}

void SuspensionCollector::note(const clang::Expr& expr, const Ancestors& ancestors) {
  const clang::Expr* operand = operand_of(expr);
  if (operand == nullptr) {
    return;
  }
  Suspension out;
  const clang::SourceLocation keyword = expr.getBeginLoc();
  const std::optional<TextRange> text = source_text_.text_of(*operand);
  const clang::FileEntry* file = text ? sources_.getFileEntryForID(text->file) : nullptr;
  if (keyword.isMacroID() || !text || file == nullptr ||
      sources_.getFileID(keyword) != text->file || tree_path_(*file).empty()) {
    function_.suspensions.push_back(std::move(out));
    function_.refused = Reason::kSuspensionInMacro;
    return;
  }
  out.file = tree_path_(*file);
  out.begin = sources_.getFileOffset(keyword);
  out.end = text->end;
  out.operand = text->begin;
  out.line = sources_.getLineNumber(text->file, out.begin);
  out.column = sources_.getColumnNumber(text->file, out.begin);
  out.form = form_of(expr, ancestors);
  if (isa<clang::CoyieldExpr>(expr)) {
    out.kind = AwaitKind::kYield;
  } else {
    describe_operand(*operand, out);
  }
  function_.suspensions.push_back(std::move(out));
}

void SuspensionCollector::describe_operand(const clang::Expr& operand, Suspension& out) const {
  const clang::Expr* awaited = without_move(plain(&operand));
  if (const auto* call = dyn_cast<clang::CallExpr>(awaited)) {
    out.kind = AwaitKind::kCall;
    out.name = name_of_callee(*call);
    return;
  }
  out.type = class_name(awaited->getType());
  const bool made = isa<clang::CXXTemporaryObjectExpr, clang::CXXFunctionalCastExpr,
                        clang::InitListExpr, clang::CXXConstructExpr>(awaited);
  out.name = made ? out.type : text_of_operand(*awaited);
}

/// Of a library, the function alone: its full name tells users little.
std::string SuspensionCollector::name_of_callee(const clang::CallExpr& call) const {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr) {
    const clang::Expr* named = call.getCallee()->IgnoreParenImpCasts();
    if (const auto* member = dyn_cast<clang::CXXDependentScopeMemberExpr>(named)) {
      return member->getMember().getAsString();
    }
    if (const auto* overloaded = dyn_cast<clang::OverloadExpr>(named)) {
      return overloaded->getName().getAsString();
    }
    return text_of_operand(*named);
  }
  const clang::FunctionDecl& known = pattern_of(*callee);
  const clang::FileEntry* file =
      sources_.getFileEntryForID(sources_.getFileID(sources_.getExpansionLoc(known.getLocation())));
  const bool in_tree = file != nullptr && !tree_path_(*file).empty();
  return in_tree ? name_of(known) : known.getNameAsString();
}

std::string SuspensionCollector::text_of_operand(const clang::Expr& operand) const {
  constexpr size_t kMost = 40;
  const std::optional<TextRange> text = source_text_.text_of(operand);
  if (!text) {
    return "";
  }
  std::string out;
  for (const char c :
       sources_.getBufferData(text->file).substr(text->begin, text->end - text->begin)) {
    const bool space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!space || (!out.empty() && out.back() != ' ')) {
      out += space ? ' ' : c;
    }
  }
  return out.size() > kMost ? out.substr(0, kMost - 3) + "..." : out;
}

}  // namespace vprof::instrumenter
