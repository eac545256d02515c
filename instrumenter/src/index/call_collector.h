// What is known about each call in one function body.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <optional>

#include "ast/constant_uses.h"
#include "ast/instantiations.h"
#include "ast/trivial.h"
#include "index/ast_facts.h"
#include "index/placement.h"

namespace vprof::instrumenter {

/// Appends calls to Function::calls. BodyWalker finds them; this class describes them.
class CallCollector {
 public:
  /// @param decl the function, of which `function` says what is known
  CallCollector(const clang::FunctionDecl& decl, const TreePath& tree_path,
                TrivialOutside& trivial_outside, const ConstantUses& constant_uses,
                Function& function);

  /// A call, direct, virtual or through a pointer. `is_spelled`: the source contains it; false for
  /// the calls that the compiler adds to a range-for.
  void note_call(const clang::CallExpr& expr, const Surroundings& around, bool is_spelled);
  /// A region of OpenMP, measured as a whole.
  void note_region(const clang::Stmt& region, const Surroundings& around);
  void note_construction(const clang::CXXConstructExpr& expr);
  /// In a template: the arguments of a construction whose constructor is not known yet.
  void note_unresolved_construction(clang::QualType made, const clang::Expr& expr,
                                    llvm::ArrayRef<const clang::Expr*> arguments);
  /// A user-provided destructor that runs at `delete`, or at the end of a block or a full
  /// expression. `expr` is the delete expression, else nullptr.
  void note_destruction(clang::QualType type, const clang::Expr* expr,
                        clang::SourceLocation location);

 private:
  /// The function called with some arguments, nullptr if it is not known, and what it does to
  /// functions among them.
  struct Receiver {
    const clang::FunctionDecl* function = nullptr;
    CallKind kind = CallKind::kCallback;
  };
  void note_passed_functions(const Receiver& receiver, const clang::Expr& expr,
                             llvm::ArrayRef<const clang::Expr*> arguments);
  void note_passed(const Receiver& receiver, const clang::Expr& expr, Call call);
  bool is_passed_on(const clang::FunctionDecl& passed, const clang::FunctionDecl* receiver) const;
  /// What a call in a template calls in its instantiations.
  void note_instantiated_callees(const clang::CallExpr& expr);
  Reason why_not(const clang::CallExpr& expr, const clang::FunctionDecl* callee, const Call& call);

  /// Defined outside the source tree.
  bool is_outside(const clang::FunctionDecl& callee) const;
  bool is_declared_outside(const clang::FunctionDecl& function) const;
  std::string spelling(const clang::Expr& callee) const;
  bool in_loop(const Surroundings& around) const;
  void locate(Placement placement, Call& call);
  void locate_macro(clang::SourceLocation definition, Call& call) const;
  /// For calls without a text of their own.
  void locate_refused(clang::SourceLocation location, Call& call, Reason reason);
  void set_place(clang::FileID file, Call& call);

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TreePath& tree_path_;
  TrivialOutside& trivial_outside_;
  const ConstantUses& constant_uses_;
  const clang::FunctionDecl& decl_;
  std::optional<InstantiatedCallees> instantiated_;  // once a call needs them
  Placer placer_;
  Function& function_;
};

}  // namespace vprof::instrumenter
