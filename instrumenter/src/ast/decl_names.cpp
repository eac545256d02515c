#include "ast/decl_names.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>

#include <cctype>

namespace vprof::instrumenter {

using clang::dyn_cast;
using clang::isa;

std::string usr_of(const clang::Decl& decl) {
  llvm::SmallString<128> usr;
  if (clang::index::generateUSRForDecl(&decl, usr)) {
    return "";
  }
  return usr.str().str();
}

const clang::FunctionDecl& pattern_of(const clang::FunctionDecl& f) {
  const clang::FunctionDecl* pattern = f.getTemplateInstantiationPattern();
  return pattern == nullptr ? f : *pattern;
}

const clang::CXXRecordDecl* lambda_class(const clang::FunctionDecl& f) {
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&f);
  if (method == nullptr || !method->getParent()->isLambda()) {
    return nullptr;
  }
  return method->getParent();
}

namespace {

using Place = std::pair<unsigned, unsigned>;  // line, column

Place place_of(const clang::CXXRecordDecl& lambda) {
  const clang::SourceManager& sources = lambda.getASTContext().getSourceManager();
  const clang::Stmt* body = lambda.getLambdaCallOperator()->getBody();
  const clang::SourceLocation begin =
      sources.getExpansionLoc(body == nullptr ? lambda.getLocation() : body->getBeginLoc());
  return {sources.getSpellingLineNumber(begin), sources.getSpellingColumnNumber(begin)};
}

/// `lambda`, with as much of its place as tells it apart from the others in the same function.
std::string lambda_name(const clang::CXXRecordDecl& lambda) {
  const clang::DeclContext* around = lambda.getDeclContext();
  const Place own = place_of(lambda);
  bool several = !isa<clang::FunctionDecl>(around);
  bool one_line = false;
  if (!several) {
    for (const clang::Decl* decl : around->decls()) {
      const auto* other = dyn_cast<clang::CXXRecordDecl>(decl);
      if (other == nullptr || other == &lambda || !other->isLambda()) {
        continue;
      }
      const Place place = place_of(*other);
      several = several || place != own;
      one_line = one_line || (place.first == own.first && place.second != own.second);
    }
  }
  if (one_line) {
    return fmt::format("lambda:{}:{}", own.first, own.second);
  }
  return several ? fmt::format("lambda:{}", own.first) : "lambda";
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    // `type-parameter-0-1` is not the begin of `type-parameter-0-12`.
    const size_t end = at + from.size();
    if (end == text.size() || std::isdigit(static_cast<unsigned char>(text[end])) == 0) {
      text.replace(at, from.size(), to);
    }
  }
}

std::pair<unsigned, unsigned> depth_and_index(const clang::NamedDecl& parameter) {
  if (const auto* type = dyn_cast<clang::TemplateTypeParmDecl>(&parameter)) {
    return {type->getDepth(), type->getIndex()};
  }
  if (const auto* of_template = dyn_cast<clang::TemplateTemplateParmDecl>(&parameter)) {
    return {of_template->getDepth(), of_template->getIndex()};
  }
  const auto* value = clang::cast<clang::NonTypeTemplateParmDecl>(&parameter);
  return {value->getDepth(), value->getIndex()};
}

/// Clang prints the arguments of a partial specialisation with numbers for its parameters:
/// `Box<type-parameter-0-0 *>`. Puts their names in.
void name_parameters(const clang::FunctionDecl& f, std::string& name) {
  if (name.find("-parameter-") == std::string::npos) {
    return;
  }
  for (const clang::DeclContext* around = f.getDeclContext(); around != nullptr;
       around = around->getParent()) {
    const auto* record = dyn_cast<clang::CXXRecordDecl>(around);
    const clang::TemplateParameterList* list =
        record == nullptr ? nullptr : record->getDescribedTemplateParams();
    if (list == nullptr) {
      continue;
    }
    for (const clang::NamedDecl* parameter : *list) {
      const auto [depth, index] = depth_and_index(*parameter);
      const std::string own = parameter->getName().empty() ? "_" : parameter->getName().str();
      replace_all(name, fmt::format("type-parameter-{}-{}", depth, index), own);
      replace_all(name, fmt::format("template-parameter-{}-{}", depth, index), own);
    }
  }
}

}  // namespace

std::string name_of(const clang::FunctionDecl& f) {
  if (const clang::CXXRecordDecl* lambda = lambda_class(f)) {
    const clang::DeclContext* around = lambda->getDeclContext();
    while (around != nullptr && !isa<clang::FunctionDecl, clang::CXXRecordDecl>(around)) {
      around = around->getParent();
    }
    std::string owner;
    if (const auto* function = dyn_cast_or_null<clang::FunctionDecl>(around)) {
      owner = name_of(*function) + "::";
    } else if (const auto* record = dyn_cast_or_null<clang::CXXRecordDecl>(around)) {
      owner = record->getQualifiedNameAsString() + "::";
    }
    return owner + lambda_name(*lambda);
  }
  std::string name;
  llvm::raw_string_ostream out(name);
  clang::PrintingPolicy policy(f.getASTContext().getLangOpts());
  policy.SuppressUnwrittenScope = true;  // no "(anonymous namespace)::"
  policy.TerseOutput = true;
  f.printQualifiedName(out, policy);
  name_parameters(f, name);
  return name;
}

std::string plain_name(const clang::NamedDecl& decl) {
  std::string name = isa<clang::CXXConstructorDecl>(decl)
                         ? cast<clang::CXXRecordDecl>(decl.getDeclContext())->getNameAsString()
                         : decl.getNameAsString();
  for (const clang::DeclContext* around = decl.getDeclContext(); around != nullptr;
       around = around->getParent()) {
    const auto* named = dyn_cast<clang::NamedDecl>(around);
    const auto* space = dyn_cast<clang::NamespaceDecl>(around);
    if (named != nullptr &&
        (space == nullptr || !(space->isInline() || space->isAnonymousNamespace()))) {
      name = named->getNameAsString().append("::").append(name);
    }
  }
  return name;
}

std::string signature_of(clang::QualType function_type) {
  if (function_type.isNull() || function_type->isDependentType()) {
    return "";
  }
  const auto* function = function_type->getAs<clang::FunctionType>();
  if (function == nullptr) {
    return "";
  }
  std::string text = function->getReturnType().getCanonicalType().getAsString();
  const auto* prototype = dyn_cast<clang::FunctionProtoType>(function);
  if (prototype == nullptr) {
    return text + " (?)";
  }
  text += " (";
  for (unsigned i = 0; i < prototype->getNumParams(); ++i) {
    text += (i == 0 ? "" : ", ") +
            prototype->getParamType(i).getCanonicalType().getUnqualifiedType().getAsString();
  }
  return text + (prototype->isVariadic() ? ", ...)" : ")");
}

const clang::FunctionDecl* named_function(const clang::Expr& expr) {
  const clang::Expr* named = expr.IgnoreParenCasts();
  if (const auto* address = dyn_cast<clang::UnaryOperator>(named);
      address != nullptr && address->getOpcode() == clang::UO_AddrOf) {
    named = address->getSubExpr()->IgnoreParenCasts();
  }
  named = named->IgnoreImplicit();
  if (const auto* temporary = dyn_cast<clang::MaterializeTemporaryExpr>(named)) {
    named = temporary->getSubExpr()->IgnoreImplicit();
  }
  if (const auto* lambda = dyn_cast<clang::LambdaExpr>(named)) {
    return lambda->getCallOperator();
  }
  const auto* reference = dyn_cast<clang::DeclRefExpr>(named);
  return reference == nullptr ? nullptr : dyn_cast<clang::FunctionDecl>(reference->getDecl());
}

}  // namespace vprof::instrumenter
