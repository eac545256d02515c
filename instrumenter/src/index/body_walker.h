// The calls in one function body, with the text of each that could be wrapped.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <vector>

#include "index/ast_facts.h"
#include "index/placement.h"
#include "index/trivial.h"

namespace vprof::instrumenter {

/// Collects the calls of one function into Function::calls:
///  - spelled calls, direct, virtual and through pointers;
///  - calls that nobody spells (constructions, destructors of locals and temporaries, the iterators
///    of a range-for), which can only be measured at the entry of their callee;
///  - functions handed on: to pthread_create and its like (spawn), to anything else (callback).
class BodyWalker {
 public:
  BodyWalker(clang::ASTContext& context, const TreePath& tree_path, TrivialOutside& trivial_outside,
             Function& function);

  void walk_initialisers(const clang::CXXConstructorDecl& constructor);
  void walk_body(const clang::Stmt* body);

  /// Whether what was walked is "a few instructions, no loop, no call" (DESIGN §6).
  bool trivial() const;

 private:
  void visit(const clang::Stmt* stmt);
  void visit_children(const clang::Stmt& stmt);
  void visit_range_for(const clang::CXXForRangeStmt& loop);
  void visit_initialiser(const clang::Decl& decl);

  void note_call(const clang::CallExpr& expr);
  void note_construction(const clang::CXXConstructExpr& expr);
  void note_destruction(clang::QualType type, const clang::Expr* expr,
                        clang::SourceLocation location);
  void note_functions_handed_on(const clang::FunctionDecl* callee, const clang::Expr& expr,
                                llvm::ArrayRef<const clang::Expr*> arguments);
  const char* why_not(const clang::CallExpr& expr, const clang::FunctionDecl* callee,
                      const Call& call);

  bool is_outside(const clang::FunctionDecl& callee) const;
  std::string spelling(const clang::Expr& callee) const;
  void locate(const clang::Expr& expr, Call& call);
  void locate_refused(clang::SourceLocation location, Call& call, const char* reason);
  void set_place(clang::FileID file, Call& call);

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TreePath& tree_path_;
  TrivialOutside& trivial_outside_;
  Placer placer_;
  Function& function_;
  std::vector<const clang::Stmt*> path_;
  int nodes_ = 0;
  bool has_loop_or_jump_ = false;
  bool in_initialiser_ = false;
  bool in_handler_ = false;
  bool unspelled_ = false;  ///< in calls that the compiler adds
};

}  // namespace vprof::instrumenter
