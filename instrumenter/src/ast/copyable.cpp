#include "ast/copyable.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/Builtins.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <set>

namespace vprof::instrumenter {
namespace {

using clang::isa;

/// Attributes that say something of the function, but do nothing with it.
bool is_harmless(const clang::Attr& attribute) {
  return isa<clang::FormatAttr, clang::FormatArgAttr, clang::NonNullAttr, clang::ReturnsNonNullAttr,
             clang::ColdAttr, clang::HotAttr, clang::NoInlineAttr, clang::UnusedAttr,
             clang::PureAttr, clang::ConstAttr, clang::DeprecatedAttr, clang::WarnUnusedResultAttr,
             clang::NoThrowAttr, clang::RestrictAttr, clang::AllocSizeAttr, clang::SentinelAttr,
             clang::BuiltinAttr>(attribute);
}

/// An attribute before the head would stay with what is inserted in front of the head.
bool is_within_head(const clang::Attr& attribute, const clang::FunctionDecl& function) {
  const clang::SourceManager& sources = function.getASTContext().getSourceManager();
  return !sources.isBeforeInTranslationUnit(attribute.getLocation(), function.getOuterLocStart());
}

bool has_its_own_meaning(const clang::FunctionDecl& function) {
  if (function.isMain() || function.isNoReturn() || function.isVariadic() ||
      function.hasAttr<clang::AlwaysInlineAttr>() ||
      (function.getNumParams() > 0 && !function.hasWrittenPrototype()) ||
      (function.isInlineSpecified() && function.getStorageClass() != clang::SC_Static)) {
    return true;
  }
  return std::ranges::any_of(function.attrs(), [&](const clang::Attr* attribute) {
    return !attribute->isInherited() && !attribute->isImplicit() &&
           (!is_harmless(*attribute) || !is_within_head(*attribute, function));
  });
}

/// A label or a directive: the assembler would see it twice. Barriers and single instructions have
/// neither.
bool may_define_symbols(llvm::StringRef assembler) {
  return assembler.find_first_of(":.") != llvm::StringRef::npos;
}

/// What may not be there twice in a program, wherever the copy is.
template <class Finder>
class FindsUniqueState : public clang::RecursiveASTVisitor<Finder> {
 public:
  bool VisitVarDecl(clang::VarDecl* variable) { return !variable->isStaticLocal(); }
  bool VisitAddrLabelExpr(clang::AddrLabelExpr*) { return false; }
  bool VisitGCCAsmStmt(clang::GCCAsmStmt* assembler) {
    return !may_define_symbols(assembler->getAsmString()->getString());
  }
  bool VisitMSAsmStmt(clang::MSAsmStmt*) { return false; }
  bool VisitBlockExpr(clang::BlockExpr*) { return false; }

 private:
  FindsUniqueState() = default;
  friend Finder;
};

class FindsUnique : public FindsUniqueState<FindsUnique> {
 public:
  bool VisitCallExpr(clang::CallExpr* call) {
    switch (call->getBuiltinCallee()) {
      case clang::Builtin::BI__builtin_return_address:
      case clang::Builtin::BI__builtin_extract_return_addr:
      case clang::Builtin::BI__builtin_frame_address:
        return false;
      default:
        return true;
    }
  }
};

bool has_lambda(llvm::ArrayRef<clang::TemplateArgument> arguments);

/// Whether the type is that of a lambda, or made for one.
bool has_lambda(clang::QualType type) {
  const clang::CXXRecordDecl* record = type->getAsCXXRecordDecl();
  const auto* specialised = llvm::dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(record);
  return record != nullptr &&
         (record->isLambda() ||
          (specialised != nullptr && has_lambda(specialised->getTemplateArgs().asArray())));
}

bool has_lambda(llvm::ArrayRef<clang::TemplateArgument> arguments) {
  return std::ranges::any_of(arguments, [](const clang::TemplateArgument& argument) {
    switch (argument.getKind()) {
      case clang::TemplateArgument::Type:
        return has_lambda(argument.getAsType());
      case clang::TemplateArgument::Declaration:
        return has_lambda(argument.getAsDecl()->getType());
      case clang::TemplateArgument::StructuralValue:
        return has_lambda(argument.getStructuralValueType());
      case clang::TemplateArgument::Pack:
        return has_lambda(argument.getPackAsArray());
      default:
        return false;
    }
  });
}

bool is_made_for_lambda(const clang::ValueDecl& decl) {
  const auto* function = llvm::dyn_cast<clang::FunctionDecl>(&decl);
  if (function == nullptr) {
    return has_lambda(decl.getType());
  }
  const auto* arguments = function->getTemplateSpecializationArgs();
  const auto* method = llvm::dyn_cast<clang::CXXMethodDecl>(function);
  return (arguments != nullptr && has_lambda(arguments->asArray())) ||
         (method != nullptr && has_lambda(decl.getASTContext().getRecordType(method->getParent())));
}

/// Finds static variables that are there at the start and only read as a whole, such as the value
/// that a parser of Bison begins with: two of them are as good as one.
class FindsReadOnly : public clang::RecursiveASTVisitor<FindsReadOnly> {
 public:
  bool VisitImplicitCastExpr(clang::ImplicitCastExpr* cast) {
    if (cast->getCastKind() == clang::CK_LValueToRValue) {
      read(*cast->getSubExpr());
    }
    return true;
  }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* e) {
    const clang::CXXConstructorDecl* constructor = e->getConstructor();
    if (constructor->isCopyOrMoveConstructor() && constructor->isTrivial()) {
      read(*e->getArg(0));
    }
    return true;
  }
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    references_.insert(reference);
    return true;
  }

  bool is_read_only(const clang::VarDecl& variable) const {
    return !variable.getType()->isDependentType() && is_there_at_start(variable) &&
           !variable.getType().isDestructedType() &&
           std::ranges::all_of(references_, [&](const clang::DeclRefExpr* reference) {
             return reference->getDecl() != &variable || read_.contains(reference);
           });
  }

 private:
  static bool is_there_at_start(const clang::VarDecl& variable) {
    const auto* construction = llvm::dyn_cast_or_null<clang::CXXConstructExpr>(variable.getInit());
    return !variable.hasInit() || variable.hasConstantInitialization() ||
           (construction != nullptr && construction->getConstructor()->isTrivial());
  }

  void read(const clang::Expr& e) {
    if (const auto* reference = llvm::dyn_cast<clang::DeclRefExpr>(e.IgnoreParenImpCasts())) {
      read_.insert(reference);
    }
  }

  std::set<const clang::DeclRefExpr*> references_, read_;
};

class FindsUniqueInBody : public FindsUniqueState<FindsUniqueInBody> {
 public:
  explicit FindsUniqueInBody(clang::Stmt* body) { read_only_.TraverseStmt(body); }
  bool VisitVarDecl(clang::VarDecl* variable) {
    return !has_lambda(variable->getType()) &&
           (!variable->isStaticLocal() ||
            (!variable->getTLSKind() && read_only_.is_read_only(*variable)));
  }
  bool VisitLambdaExpr(clang::LambdaExpr*) { return false; }
  // Each use of a default argument `class T = decltype([] {})` is a lambda of its own.
  bool VisitDeclRefExpr(clang::DeclRefExpr* e) { return !is_made_for_lambda(*e->getDecl()); }
  bool VisitMemberExpr(clang::MemberExpr* e) { return !is_made_for_lambda(*e->getMemberDecl()); }
  bool VisitCXXConstructExpr(clang::CXXConstructExpr* e) { return !has_lambda(e->getType()); }

 private:
  FindsReadOnly read_only_;
};

/// Whether a returned variable could be the caller's object. If each copy of the body returns a
/// variable of its own, neither is.
bool may_construct_in_place(const clang::FunctionDecl& function) {
  const clang::QualType type = function.getReturnType();
  return type->isRecordType() || type->isDependentType() || type->getContainedAutoType() != nullptr;
}

/// Also those that only an expression or a template argument names: `f<struct Local>()`.
bool has_types_of_its_own(const clang::FunctionDecl& function) {
  return std::ranges::any_of(function.decls(),
                             [](const clang::Decl* decl) { return isa<clang::TagDecl>(decl); });
}

}  // namespace

bool has_unique_body(const clang::FunctionDecl& function) {
  return function.isMain() || function.isConstexpr() ||
         function.hasAttr<clang::AlwaysInlineAttr>() || may_construct_in_place(function) ||
         isa<clang::CXXTryStmt>(function.getBody()) || has_types_of_its_own(function) ||
         !FindsUniqueInBody(function.getBody()).TraverseStmt(function.getBody());
}

std::set<std::string> labels_of(const clang::FunctionDecl& function) {
  struct Finds : clang::RecursiveASTVisitor<Finds> {
    bool VisitLabelStmt(clang::LabelStmt* label) {
      if (!label->getDecl()->isGnuLocal()) {
        found.insert(label->getDecl()->getNameAsString());
      }
      return true;
    }
    std::set<std::string> found;
  } finds;
  finds.TraverseStmt(function.getBody());
  return std::move(finds.found);
}

bool is_one_of_a_kind(const clang::FunctionDecl& function) {
  return has_its_own_meaning(function) || !FindsUnique().TraverseStmt(function.getBody());
}

}  // namespace vprof::instrumenter
