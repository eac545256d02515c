// What is known about each call in one function body.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include "index/ast_facts.h"
#include "index/placement.h"
#include "index/trivial.h"

namespace vprof::instrumenter {

/// Appends calls to Function::calls. BodyWalker finds them; this class describes them.
class CallCollector {
 public:
  CallCollector(clang::ASTContext& context, const TreePath& tree_path,
                TrivialOutside& trivial_outside, Function& function);

  /// A call, direct, virtual or through a pointer. `is_spelled`: the source contains it; false for
  /// the calls that the compiler adds to a range-for.
  void note_call(const clang::CallExpr& expr, const Surroundings& around, bool is_spelled);
  void note_construction(const clang::CXXConstructExpr& expr);
  /// A user-provided destructor that runs at `delete`, or at the end of a block or a full
  /// expression. `expr` is the delete expression, else nullptr.
  void note_destruction(clang::QualType type, const clang::Expr* expr,
                        clang::SourceLocation location);

 private:
  void note_passed_functions(const clang::FunctionDecl* callee, const clang::Expr& expr,
                             llvm::ArrayRef<const clang::Expr*> arguments);
  Reason why_not(const clang::CallExpr& expr, const clang::FunctionDecl* callee, const Call& call);

  bool is_outside(const clang::FunctionDecl& callee) const;
  std::string spelling(const clang::Expr& callee) const;
  void locate(const clang::Expr& expr, const Surroundings& around, Call& call);
  /// For calls without a text of their own.
  void locate_refused(clang::SourceLocation location, Call& call, Reason reason);
  void set_place(clang::FileID file, Call& call);

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TreePath& tree_path_;
  TrivialOutside& trivial_outside_;
  Placer placer_;
  Function& function_;
};

}  // namespace vprof::instrumenter
