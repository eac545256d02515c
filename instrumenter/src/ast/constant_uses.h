// Which functions must stay usable in constant expressions, so that nothing may be inserted.
//
// Since C++17 a lambda is constexpr by itself wherever it can be, so that alone says nothing: most
// lambdas that Clang marks as constexpr only ever run at run time.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>
#include <clang/AST/ExprCXX.h>

#include <unordered_set>

namespace vprof::instrumenter {

/// Finds the lambdas that constant expressions of the unit use: written in one, or named in one.
/// Initialisers of constexpr variables and of constant integers, static_assert, template arguments,
/// array bounds, case labels and conditions of `if constexpr` are constant expressions.
class ConstantUses {
 public:
  explicit ConstantUses(clang::ASTContext& context) : context_(context) {}

  /// Looks through one declaration of the unit and all it contains.
  void look_through(clang::Decl& declaration);

  /// Whether `f` is declared constexpr or consteval, lies within such a function, or is a lambda
  /// that a constant expression uses.
  bool is_constant(const clang::FunctionDecl& f) const;

 private:
  bool is_declared_constexpr(const clang::FunctionDecl& lambda) const;

  clang::ASTContext& context_;
  std::unordered_set<const clang::CXXRecordDecl*> used_;  // classes of lambdas
};

}  // namespace vprof::instrumenter
