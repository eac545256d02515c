// The suspension points of coroutines: co_await and co_yield.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <string>

#include "index/ast_facts.h"
#include "index/source_text.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// What the source contains of a suspension point or a co_return; the rest of its children are
/// calls that the language adds. nullptr: it is neither, or has no operand.
const clang::Stmt* written_operand(const clang::Stmt& stmt);

/// A class without template arguments, equal in all units; else the type's text.
std::string class_name(clang::QualType type);

/// Appends to Function::suspensions. One whose text cannot be wrapped makes the function refused,
/// since a frame of the coroutine would last until it goes on.
class SuspensionCollector {
 public:
  SuspensionCollector(clang::ASTContext& context, const TreePath& tree_path, Function& function);

  /// Any expression; ignores those that are no suspension point.
  void note(const clang::Expr& expr, const Ancestors& ancestors);

 private:
  void describe_operand(const clang::Expr& operand, Suspension& out) const;
  std::string name_of_callee(const clang::CallExpr& call) const;
  std::string text_of_operand(const clang::Expr& operand) const;

  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
  const TreePath& tree_path_;
  SourceText source_text_;
  Function& function_;
};

}  // namespace vprof::instrumenter
