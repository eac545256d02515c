// Finds the calls in one function body.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <set>
#include <vector>

#include "index/ast_facts.h"
#include "index/call_collector.h"
#include "index/suspensions.h"

namespace vprof::instrumenter {

/// Walks a body and collects into Function::suspensions the co_await and co_yield expressions, and
/// into Function::calls:
///  - the calls in the source: direct, virtual and through pointers;
///  - calls that the compiler adds: constructions, destructors of locals and temporaries, the
///    iterators of a range-for; these can be measured only at the entry of their callee;
///  - the regions of OpenMP that other threads run, as calls of `region(f)`;
///  - functions passed to pthread_create and the like (spawn), to an executor (task), or to any
///    other function (callback).
class BodyWalker {
 public:
  /// @param decl the function, of which `function` says what is known
  BodyWalker(const clang::FunctionDecl& decl, const TreePath& tree_path,
             TrivialOutside& trivial_outside, const ConstantUses& constant_uses,
             Function& function);

  void walk_initialisers(const clang::CXXConstructorDecl& constructor);
  void walk_body(const clang::Stmt* body);

  /// As Function::bare_macros, of a function in this file.
  std::vector<uint32_t> bare_macros(clang::FileID file) const;
  /// Whether the walked text is a few instructions, without a loop or a call.
  bool trivial() const;
  uint32_t size() const { return nodes_; }
  bool has_loop_or_jump() const { return has_loop_or_jump_; }

 private:
  void visit(const clang::Stmt* stmt);
  void visit_children(const clang::Stmt& stmt);
  bool is_error_path(const clang::Stmt& stmt) const;
  void visit_error_path(const clang::Stmt& stmt);
  void visit_directive(const clang::OMPExecutableDirective& directive);
  void visit_region(const clang::OMPExecutableDirective& directive, const clang::Stmt* region);
  void visit_range_for(const clang::CXXForRangeStmt& loop);
  void visit_initialiser(const clang::Decl& decl);
  void note_list(clang::QualType made, const clang::Expr* init);
  void note_macro(clang::SourceLocation begin);

  const clang::ASTContext& context_;
  Function& function_;
  CallCollector calls_;
  SuspensionCollector suspensions_;
  Ancestors path_;
  std::set<clang::SourceLocation> macros_;  ///< where macros with arguments are expanded
  uint32_t nodes_ = 0;
  bool has_loop_or_jump_ = false;
  bool is_error_path_ = false;
  bool in_initialiser_ = false;
  bool in_handler_ = false;
  bool in_parallel_region_ = false;
  bool unmeasured_region_ = false;  ///< inside what other threads run, and in no scope of it yet
  bool unspelled_ = false;          ///< inside code that the compiler adds
};

}  // namespace vprof::instrumenter
