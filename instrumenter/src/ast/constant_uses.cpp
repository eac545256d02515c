#include "ast/constant_uses.h"

#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

#include "ast/decl_names.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Collects the classes of the lambdas in and behind constant expressions.
class ConstantExpressions : public clang::RecursiveASTVisitor<ConstantExpressions> {
 public:
  using Base = clang::RecursiveASTVisitor<ConstantExpressions>;
  using Lambdas = std::unordered_set<const clang::CXXRecordDecl*>;

  ConstantExpressions(clang::ASTContext& context, Lambdas& out) : context_(context), out_(out) {}

  bool shouldVisitTemplateInstantiations() const { return false; }

  bool TraverseVarDecl(clang::VarDecl* variable) {
    return within(is_constant(*variable), [&] { return Base::TraverseVarDecl(variable); });
  }
  bool TraverseStaticAssertDecl(clang::StaticAssertDecl* assertion) {
    return within(true, [&] { return Base::TraverseStaticAssertDecl(assertion); });
  }
  bool TraverseConstantExpr(clang::ConstantExpr* expr) {
    return within(true, [&] { return Base::TraverseConstantExpr(expr); });
  }
  bool TraverseTemplateArgumentLoc(const clang::TemplateArgumentLoc& argument) {
    return within(true, [&] { return Base::TraverseTemplateArgumentLoc(argument); });
  }
  bool TraverseConstantArrayTypeLoc(clang::ConstantArrayTypeLoc type) {
    return within(true, [&] { return Base::TraverseConstantArrayTypeLoc(type); });
  }

  bool VisitIfStmt(clang::IfStmt* branch) {
    if (!branch->isConstexpr()) {
      return true;
    }
    return within(true, [&] { return TraverseStmt(branch->getCond()); });
  }
  bool VisitLambdaExpr(clang::LambdaExpr* lambda) { return note(lambda->getLambdaClass()); }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    return note(reference->getDecl()->getType().getNonReferenceType()->getAsCXXRecordDecl());
  }

 private:
  bool is_constant(const clang::VarDecl& variable) const {
    if (variable.isConstexpr() || variable.hasAttr<clang::ConstInitAttr>()) {
      return true;
    }
    const clang::Expr* value = variable.getInit();
    return value != nullptr && !value->isValueDependent() &&
           !variable.getType()->isDependentType() &&
           variable.isUsableInConstantExpressions(context_);
  }

  template <class Traverse>
  bool within(bool constant, const Traverse& traverse) {
    depth_ += constant ? 1 : 0;
    const bool result = traverse();
    depth_ -= constant ? 1 : 0;
    return result;
  }

  bool note(const clang::CXXRecordDecl* record) {
    if (depth_ > 0 && record != nullptr && record->isLambda()) {
      out_.insert(record);
    }
    return true;
  }

  clang::ASTContext& context_;
  Lambdas& out_;
  int depth_ = 0;  // constant expressions around this place
};

}  // namespace

void ConstantUses::look_through(clang::Decl& declaration) {
  ConstantExpressions(context_, used_).TraverseDecl(&declaration);
}

bool ConstantUses::is_constant(const clang::FunctionDecl& f) const {
  if (f.isConsteval()) {
    return true;
  }
  if (!f.isConstexpr()) {
    return false;
  }
  const clang::CXXRecordDecl* lambda = lambda_class(pattern_of(f));
  if (lambda == nullptr || used_.count(lambda) != 0 || is_declared_constexpr(f)) {
    return true;
  }
  for (const clang::DeclContext* around = lambda->getDeclContext(); around != nullptr;
       around = around->getParent()) {
    if (const auto* function = dyn_cast<clang::FunctionDecl>(around)) {
      return is_constant(*function);
    }
  }
  return false;
}

/// Clang does not remember whether a lambda is constexpr by declaration or by itself, so the text
/// between its parameters and its body is read.
bool ConstantUses::is_declared_constexpr(const clang::FunctionDecl& lambda) const {
  const clang::SourceManager& sources = context_.getSourceManager();
  const clang::FunctionDecl& written = pattern_of(lambda);
  const clang::Stmt* body = written.getBody();
  if (body == nullptr) {
    return true;
  }
  const clang::SourceRange parameters = written.getParametersSourceRange();
  clang::SourceLocation from =
      sources.getFileLoc(parameters.isValid() ? parameters.getEnd() : written.getBeginLoc());
  const clang::SourceLocation end = sources.getFileLoc(body->getBeginLoc());
  while (sources.isBeforeInTranslationUnit(from, end)) {
    const std::optional<clang::Token> next =
        clang::Lexer::findNextToken(from, sources, context_.getLangOpts());
    if (!next || !sources.isBeforeInTranslationUnit(next->getLocation(), end)) {
      return false;
    }
    if (next->is(clang::tok::raw_identifier) && next->getRawIdentifier() == "constexpr") {
      return true;
    }
    from = next->getLocation();
  }
  return false;
}

}  // namespace vprof::instrumenter
