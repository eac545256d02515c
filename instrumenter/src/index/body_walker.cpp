#include "index/body_walker.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/AST/StmtOpenMP.h>
#include <clang/Basic/OpenMPKinds.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "ast/control_flow.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// A trivial function has at most this many statement nodes.
constexpr uint32_t kTrivialNodes = 24;

/// Whether other threads than that of the function run what belongs to the directive.
bool runs_elsewhere(const clang::OMPExecutableDirective& directive) {
  const clang::OpenMPDirectiveKind kind = directive.getDirectiveKind();
  return clang::isOpenMPParallelDirective(kind) || clang::isOpenMPTaskingDirective(kind);
}

/// Whether the statement contains a directive that must stand directly in the block around it, or
/// that leaves that block.
bool has_bound_directive(const clang::Stmt& stmt) {
  if (isa<clang::OMPSectionDirective, clang::OMPScanDirective, clang::OMPCancelDirective,
          clang::OMPCancellationPointDirective>(stmt)) {
    return true;
  }
  const auto* directive = dyn_cast<clang::OMPExecutableDirective>(&stmt);
  if (directive != nullptr) {
    return directive->hasAssociatedStmt() && has_bound_directive(*directive->getRawStmt());
  }
  return std::ranges::any_of(stmt.children(), [](const clang::Stmt* child) {
    return child != nullptr && !isa<clang::Expr>(child) && has_bound_directive(*child);
  });
}

/// Whether the text of the statement ends with that of another directive. Clang takes the end of
/// the pragma for the end of it, and misses the statement that follows.
bool ends_with_directive(const clang::Stmt& stmt) {
  const clang::Stmt* last = &stmt;
  while (last != nullptr && !isa<clang::CompoundStmt, clang::OMPExecutableDirective>(last)) {
    const clang::Stmt* child = nullptr;
    for (const clang::Stmt* next : last->children()) {
      child = next != nullptr ? next : child;
    }
    last = child;
  }
  return last != nullptr && isa<clang::OMPExecutableDirective>(last);
}

/// Whether the statement of a region may get a block around it.
bool can_hold_scope(const clang::OMPExecutableDirective& directive, const clang::Stmt& region) {
  return isa<clang::CompoundStmt, clang::ForStmt, clang::CXXForRangeStmt, clang::WhileStmt,
             clang::DoStmt, clang::IfStmt, clang::SwitchStmt>(region) &&
         !clang::isOpenMPSimdDirective(directive.getDirectiveKind()) &&
         !ends_with_directive(region) && !has_bound_directive(region);
}

}  // namespace

BodyWalker::BodyWalker(const clang::FunctionDecl& decl, const TreePath& tree_path,
                       TrivialOutside& trivial_outside, const ConstantUses& constant_uses,
                       Function& function)
    : context_(decl.getASTContext()),
      function_(function),
      calls_(decl, tree_path, trivial_outside, constant_uses, function),
      suspensions_(decl.getASTContext(), tree_path, function) {}

void BodyWalker::walk_body(const clang::Stmt* body) { visit(body); }

void BodyWalker::walk_initialisers(const clang::CXXConstructorDecl& constructor) {
  in_initialiser_ = true;
  for (const clang::CXXCtorInitializer* init : constructor.inits()) {
    if (init->isWritten()) {
      visit(init->getInit());
    }
  }
  in_initialiser_ = false;
}

bool BodyWalker::trivial() const {
  return nodes_ <= kTrivialNodes && !has_loop_or_jump_ && function_.calls.empty();
}

void BodyWalker::note_macro(clang::SourceLocation begin) {
  if (!begin.isMacroID()) {
    return;
  }
  const clang::CharSourceRange expansion = context_.getSourceManager().getExpansionRange(begin);
  if (expansion.getBegin() != expansion.getEnd()) {
    macros_.insert(expansion.getBegin());
  }
}

std::vector<uint32_t> BodyWalker::bare_macros(clang::FileID file) const {
  std::set<uint32_t> bare;
  for (const clang::SourceLocation begin : macros_) {
    const auto [its_file, offset] = context_.getSourceManager().getDecomposedLoc(begin);
    if (its_file == file) {
      bare.insert(offset);
    }
  }
  for (const Call& call : function_.calls) {
    bare.erase(call.begin);
  }
  return {bare.begin(), bare.end()};
}

void BodyWalker::visit(const clang::Stmt* stmt) {
  if (stmt == nullptr || isa<clang::ConstantExpr>(stmt)) {
    return;
  }
  if (const auto* coroutine = dyn_cast<clang::CoroutineBodyStmt>(stmt)) {
    return visit(coroutine->getBody());
  }
  if (!is_error_path_ && is_error_path(*stmt)) {
    return visit_error_path(*stmt);
  }
  ++nodes_;
  note_macro(stmt->getBeginLoc());
  if (is_loop(*stmt, context_) || isa<clang::GotoStmt, clang::IndirectGotoStmt, clang::AsmStmt,
                                      clang::CXXNewExpr, clang::CXXDeleteExpr>(stmt)) {
    has_loop_or_jump_ = true;
  }
  // In a template, an operator on a dependent type may be a call.
  if (const auto* expr = dyn_cast<clang::Expr>(stmt);
      expr != nullptr && expr->isTypeDependent() &&
      isa<clang::ArraySubscriptExpr, clang::BinaryOperator, clang::UnaryOperator>(expr)) {
    has_loop_or_jump_ = true;
  }
  // Not evaluated, or a body of its own.
  if (isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::CXXTypeidExpr,
          clang::RequiresExpr>(stmt)) {
    return;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(stmt)) {
    calls_.note_call(*call, {path_, in_initialiser_, in_handler_, in_parallel_region_},
                     !unspelled_);
  }
  if (const auto* expr = dyn_cast<clang::Expr>(stmt)) {
    suspensions_.note(*expr, path_);
  }
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(stmt)) {
    calls_.note_construction(*construction);
  }
  if (const auto* unresolved = dyn_cast<clang::CXXUnresolvedConstructExpr>(stmt)) {
    const std::vector<const clang::Expr*> arguments(unresolved->arg_begin(), unresolved->arg_end());
    calls_.note_unresolved_construction(unresolved->getTypeAsWritten(), *unresolved, arguments);
  }
  if (const auto* allocation = dyn_cast<clang::CXXNewExpr>(stmt)) {
    note_list(allocation->getAllocatedType(), allocation->getInitializer());
  }
  if (const auto* deletion = dyn_cast<clang::CXXDeleteExpr>(stmt)) {
    calls_.note_destruction(deletion->getDestroyedType(), deletion, deletion->getBeginLoc());
  }
  if (const auto* temporary = dyn_cast<clang::CXXBindTemporaryExpr>(stmt)) {
    calls_.note_destruction(temporary->getType(), nullptr, temporary->getBeginLoc());
  }
  path_.push_back(stmt);
  visit_children(*stmt);
  path_.pop_back();
}

/// A macro that reports an error and does not come back.
bool BodyWalker::is_error_path(const clang::Stmt& stmt) const {
  return stmt.getBeginLoc().isMacroID() && isa<clang::CompoundStmt, clang::DoStmt>(stmt) &&
         never_completes(stmt, context_);
}

/// It says nothing of the size of the function, which is there for its other paths.
void BodyWalker::visit_error_path(const clang::Stmt& stmt) {
  const uint32_t nodes = nodes_;
  const bool loop = has_loop_or_jump_;
  const size_t calls = function_.calls.size();
  is_error_path_ = true;
  visit(&stmt);
  is_error_path_ = false;
  nodes_ = nodes + 1;
  has_loop_or_jump_ = loop;
  for (size_t i = calls; i < function_.calls.size(); ++i) {
    function_.calls[i].noreturn = true;
  }
}

/// The compiler makes a function of the region, which is ordinary code otherwise. The heads of its
/// loops must keep their form, and so must atomic updates. Other processors run target regions.
void BodyWalker::visit_directive(const clang::OMPExecutableDirective& directive) {
  if (!directive.hasAssociatedStmt() || isa<clang::OMPAtomicDirective>(directive) ||
      clang::isOpenMPTargetExecutionDirective(directive.getDirectiveKind())) {
    return;
  }
  const bool before = std::exchange(in_parallel_region_, true);
  const size_t depth = path_.size();
  const clang::Stmt* region = directive.getRawStmt();
  if (const auto* loops = dyn_cast<clang::OMPLoopBasedDirective>(&directive)) {
    for (size_t i = 0; i < loops->getLoopsNumber() && region != nullptr; ++i) {
      path_.push_back(region);
      if (const auto* loop = dyn_cast<clang::ForStmt>(region)) {
        region = loop->getBody();
      } else if (const auto* range = dyn_cast<clang::CXXForRangeStmt>(region)) {
        region = range->getBody();
      } else {  // the block around the next loop
        region = region->child_begin() == region->child_end() ? nullptr : *region->child_begin();
        --i;
      }
    }
  }
  const bool unmeasured_before = unmeasured_region_;
  unmeasured_region_ = unmeasured_region_ || runs_elsewhere(directive);
  visit_region(directive, region);
  unmeasured_region_ = unmeasured_before;
  path_.resize(depth);
  in_parallel_region_ = before;
}

/// What a thread does in a region is in no frame of the function, which only the thread that began
/// the region has. So the block is measured as a whole, if it is more than a few instructions.
void BodyWalker::visit_region(const clang::OMPExecutableDirective& directive,
                              const clang::Stmt* region) {
  if (!unmeasured_region_ || region == nullptr || !can_hold_scope(directive, *region)) {
    return visit(region);
  }
  unmeasured_region_ = false;
  const uint32_t nodes_before = nodes_;
  const size_t calls_before = function_.calls.size();
  const bool loop_before = std::exchange(has_loop_or_jump_, false);
  visit(region);
  if (nodes_ - nodes_before > kTrivialNodes || has_loop_or_jump_ ||
      function_.calls.size() != calls_before) {
    calls_.note_region(*region, {path_, false, in_handler_, true});
  }
  has_loop_or_jump_ = has_loop_or_jump_ || loop_before;
}

/// The children that are evaluated in place.
void BodyWalker::visit_children(const clang::Stmt& stmt) {
  if (const auto* selection = dyn_cast<clang::GenericSelectionExpr>(&stmt)) {
    return selection->isResultDependent() ? void() : visit(selection->getResultExpr());
  }
  if (const auto* choice = dyn_cast<clang::ChooseExpr>(&stmt)) {
    return choice->isConditionDependent() ? void() : visit(choice->getChosenSubExpr());
  }
  if (const auto* lambda = dyn_cast<clang::LambdaExpr>(&stmt)) {
    for (const clang::Expr* init : lambda->capture_inits()) {
      visit(init);
    }
    return;
  }
  if (const clang::Stmt* operand = written_operand(stmt)) {
    return visit(operand);
  }
  if (const auto* loop = dyn_cast<clang::CXXForRangeStmt>(&stmt)) {
    return visit_range_for(*loop);
  }
  if (const auto* directive = dyn_cast<clang::OMPExecutableDirective>(&stmt)) {
    return visit_directive(*directive);
  }
  if (const auto* pseudo = dyn_cast<clang::PseudoObjectExpr>(&stmt)) {
    return visit(pseudo->getSyntacticForm());
  }
  if (const auto* declaration = dyn_cast<clang::DeclStmt>(&stmt)) {
    for (const clang::Decl* decl : declaration->decls()) {
      visit_initialiser(*decl);
    }
    return;
  }
  if (const auto* branch = dyn_cast<clang::IfStmt>(&stmt);
      branch != nullptr && branch->isConstexpr()) {
    visit(branch->getInit());
    visit(branch->getThen());
    return visit(branch->getElse());
  }
  if (const auto* block = dyn_cast<clang::CXXTryStmt>(&stmt);
      block != nullptr && path_.size() == 1) {
    visit(block->getTryBlock());
    in_handler_ = true;
    for (unsigned i = 0; i < block->getNumHandlers(); ++i) {
      visit(block->getHandler(i));
    }
    in_handler_ = false;
    return;
  }
  for (const clang::Stmt* child : stmt.children()) {
    visit(child);
  }
}

void BodyWalker::visit_range_for(const clang::CXXForRangeStmt& loop) {
  visit(loop.getInit());
  visit(loop.getRangeInit());
  const bool before = unspelled_;
  unspelled_ = true;
  for (const clang::Stmt* part : std::initializer_list<const clang::Stmt*>{
           loop.getBeginStmt(), loop.getEndStmt(), loop.getCond(), loop.getInc(),
           loop.getLoopVarStmt()}) {
    visit(part);
  }
  unspelled_ = before;
  visit(loop.getBody());
}

void BodyWalker::visit_initialiser(const clang::Decl& decl) {
  const auto* variable = dyn_cast<clang::VarDecl>(&decl);
  if (variable == nullptr || variable->isConstexpr()) {
    return;
  }
  if (variable->isStaticLocal() && !context_.getLangOpts().CPlusPlus) {
    return;
  }
  if (variable->hasLocalStorage()) {
    calls_.note_destruction(variable->getType(), nullptr, variable->getLocation());
  }
  note_list(variable->getType(), variable->getInit());
  visit(variable->getInit());
}

/// In a template, the arguments of a construction are a mere list if one of them depends on it.
void BodyWalker::note_list(clang::QualType made, const clang::Expr* init) {
  std::vector<const clang::Expr*> arguments;
  if (const auto* parentheses = dyn_cast_or_null<clang::ParenListExpr>(init)) {
    for (unsigned i = 0; i < parentheses->getNumExprs(); ++i) {
      arguments.push_back(parentheses->getExpr(i));
    }
  } else if (const auto* braces = dyn_cast_or_null<clang::InitListExpr>(init)) {
    if (made.isNull() || made->isDependentType() || made->getAsCXXRecordDecl() == nullptr ||
        made->isAggregateType()) {
      return;
    }
    arguments.assign(braces->inits().begin(), braces->inits().end());
  }
  if (!arguments.empty()) {
    calls_.note_unresolved_construction(made, *init, arguments);
  }
}

}  // namespace vprof::instrumenter
