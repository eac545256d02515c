#include "index/body_walker.h"

#include <clang/AST/ExprCXX.h>
#include <clang/AST/StmtCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "index/decl_names.h"
#include "program/reasons.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// More statement nodes than this are not "a few instructions" (DESIGN §6, trivial callees).
constexpr int kTrivialNodes = 24;

bool never_returns(const clang::FunctionDecl& f) {
  return f.isNoReturn() || f.hasAttr<clang::AnalyzerNoReturnAttr>();
}

/// Functions that run what they are given on another thread.
bool starts_thread(const clang::FunctionDecl& callee) {
  static constexpr std::array<llvm::StringRef, 6> kNames{"pthread_create",        "thrd_create",
                                                         "std::thread::thread",   "std::async",
                                                         "std::jthread::jthread", "clone"};
  return std::find(kNames.begin(), kNames.end(), name_of(pattern_of(callee))) != kNames.end();
}

void describe_callee(const clang::FunctionDecl& callee, Call& call) {
  const clang::FunctionDecl& known = pattern_of(callee);
  call.callee_name = name_of(known);
  call.callee_key = call.callee_name + "@";
  call.callee_usr = usr_of(known);
  call.noreturn = never_returns(callee);
}

void refuse(Call& call, const char* reason) {
  call.form = Form::kRefused;
  call.reason = reason;
}

bool is_virtual_call(const clang::CallExpr& expr, const clang::FunctionDecl& callee) {
  const auto* member = dyn_cast<clang::MemberExpr>(expr.getCallee()->IgnoreParenImpCasts());
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&callee);
  return member != nullptr && method != nullptr && method->isVirtual() && !member->hasQualifier();
}

}  // namespace

BodyWalker::BodyWalker(clang::ASTContext& context, const TreePath& tree_path,
                       TrivialOutside& trivial_outside, Function& function)
    : context_(context),
      sources_(context.getSourceManager()),
      tree_path_(tree_path),
      trivial_outside_(trivial_outside),
      placer_(context),
      function_(function) {}

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

void BodyWalker::visit(const clang::Stmt* stmt) {
  if (stmt == nullptr || isa<clang::ConstantExpr>(stmt)) {
    return;
  }
  ++nodes_;
  if (isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt, clang::GotoStmt,
          clang::IndirectGotoStmt, clang::AsmStmt, clang::CXXNewExpr, clang::CXXDeleteExpr>(stmt)) {
    has_loop_or_jump_ = true;
  }
  // In a template, an operator on what is not known yet may be a call.
  if (const auto* expr = dyn_cast<clang::Expr>(stmt);
      expr != nullptr && expr->isTypeDependent() &&
      isa<clang::ArraySubscriptExpr, clang::BinaryOperator, clang::UnaryOperator>(expr)) {
    has_loop_or_jump_ = true;
  }
  // Not evaluated, or bodies of their own.
  if (isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::CXXTypeidExpr,
          clang::RequiresExpr, clang::OMPExecutableDirective>(stmt)) {
    return;
  }
  if (const auto* call = dyn_cast<clang::CallExpr>(stmt)) {
    note_call(*call);
  }
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(stmt)) {
    note_construction(*construction);
  }
  if (const auto* deletion = dyn_cast<clang::CXXDeleteExpr>(stmt)) {
    note_destruction(deletion->getDestroyedType(), deletion, deletion->getBeginLoc());
  }
  if (const auto* temporary = dyn_cast<clang::CXXBindTemporaryExpr>(stmt)) {
    note_destruction(temporary->getType(), nullptr, temporary->getBeginLoc());
  }
  path_.push_back(stmt);
  visit_children(*stmt);
  path_.pop_back();
}

/// The children that are evaluated where they stand.
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
  if (const auto* loop = dyn_cast<clang::CXXForRangeStmt>(&stmt)) {
    return visit_range_for(*loop);
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
    note_destruction(variable->getType(), nullptr, variable->getLocation());
  }
  visit(variable->getInit());
}

void BodyWalker::note_call(const clang::CallExpr& expr) {
  Call call;
  const clang::FunctionDecl* callee = expr.getDirectCallee();
  if (callee != nullptr) {
    if (is_compiler_builtin(*callee) || callee->isConsteval()) {
      return;
    }
    describe_callee(*callee, call);
    if (is_virtual_call(expr, *callee)) {
      call.kind = CallKind::kVirtual;
    }
  } else if (isa<clang::CXXPseudoDestructorExpr>(expr.getCallee()->IgnoreParens())) {
    return;
  } else {
    call.kind = CallKind::kIndirect;
    call.callee_name = fmt::format("(*{})", spelling(*expr.getCallee()));
    call.callee_key = call.callee_name + "@";
    const clang::QualType pointer = expr.getCallee()->getType();
    call.type = signature_of(pointer->isPointerType() ? pointer->getPointeeType() : pointer);
  }
  if (unspelled_) {
    locate_refused(expr.getBeginLoc(), call, reason::kRangeFor);
  } else {
    locate(expr, call);
  }
  if (callee != nullptr && is_outside(*callee) && trivial_outside_(*callee)) {
    call.trivial = true;
  }
  if (const char* reason = why_not(expr, callee, call)) {
    refuse(call, reason);
  }
  function_.calls.push_back(std::move(call));
  note_functions_handed_on(callee, expr, {expr.getArgs(), expr.getNumArgs()});
}

const char* BodyWalker::why_not(const clang::CallExpr& expr, const clang::FunctionDecl* callee,
                                const Call& call) {
  if (callee != nullptr && needs_callers_frame(*callee)) {
    return reason::kCallersFrame;
  }
  if (is_cheap_library_call(expr, context_)) {
    return reason::kCheap;
  }
  if (callee != nullptr && callee->isConstexpr() && call.form != Form::kStatement) {
    return reason::kConstexpr;
  }
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(&expr);
      op != nullptr && op->getOperator() == clang::OO_Arrow) {
    return reason::kArrow;
  }
  if (isa<clang::UserDefinedLiteral>(expr)) {
    return reason::kLiteral;
  }
  if (callee != nullptr && isa<clang::CXXConversionDecl>(callee)) {
    return reason::kConversion;
  }
  return nullptr;
}

void BodyWalker::note_construction(const clang::CXXConstructExpr& expr) {
  const clang::CXXConstructorDecl* constructor = expr.getConstructor();
  if (constructor == nullptr || constructor->isImplicit() || constructor->isDefaulted()) {
    return;
  }
  Call call;
  describe_callee(*constructor, call);
  locate_refused(expr.getBeginLoc(), call, reason::kConstruction);
  if (is_outside(*constructor) && trivial_outside_(*constructor)) {
    call.trivial = true;
  }
  function_.calls.push_back(std::move(call));
  note_functions_handed_on(constructor, expr, {expr.getArgs(), expr.getNumArgs()});
}

/// A destructor that somebody wrote: `delete`, the end of a block, the end of a full expression.
void BodyWalker::note_destruction(clang::QualType type, const clang::Expr* expr,
                                  clang::SourceLocation location) {
  if (type.isNull()) {
    return;
  }
  const clang::CXXRecordDecl* record = context_.getBaseElementType(type)->getAsCXXRecordDecl();
  if (record == nullptr || !record->hasDefinition() || record->isDependentContext()) {
    return;
  }
  const clang::CXXDestructorDecl* destructor = record->getDestructor();
  if (destructor == nullptr || destructor->isImplicit() || destructor->isDefaulted()) {
    return;
  }
  Call call;
  describe_callee(*destructor, call);
  if (expr != nullptr && destructor->isVirtual()) {
    call.kind = CallKind::kVirtual;
  }
  locate_refused(location, call, reason::kDestruction);
  if (is_outside(*destructor) && trivial_outside_(*destructor)) {
    call.trivial = true;
  }
  function_.calls.push_back(std::move(call));
}

void BodyWalker::note_functions_handed_on(const clang::FunctionDecl* callee,
                                          const clang::Expr& expr,
                                          llvm::ArrayRef<const clang::Expr*> arguments) {
  const bool spawns = callee != nullptr && starts_thread(*callee);
  for (const clang::Expr* argument : arguments) {
    const clang::FunctionDecl* handed = argument == nullptr ? nullptr : named_function(*argument);
    if (handed == nullptr) {
      continue;
    }
    Call call;
    describe_callee(*handed, call);
    call.noreturn = false;
    call.kind = spawns ? CallKind::kSpawn : CallKind::kCallback;
    locate_refused(expr.getBeginLoc(), call, "");
    function_.calls.push_back(std::move(call));
  }
}

bool BodyWalker::is_outside(const clang::FunctionDecl& callee) const {
  const clang::FunctionDecl* definition = callee.getDefinition();
  if (definition == nullptr) {
    return false;
  }
  const clang::FileID file =
      sources_.getFileID(sources_.getExpansionLoc(definition->getLocation()));
  const clang::FileEntry* entry = sources_.getFileEntryForID(file);
  return entry == nullptr || tree_path_(*entry).empty();
}

std::string BodyWalker::spelling(const clang::Expr& callee) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  callee.IgnoreParenImpCasts()->printPretty(out, nullptr, context_.getPrintingPolicy());
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > 60) {
    text = text.substr(0, 57) + "...";
  }
  return text;
}

void BodyWalker::locate(const clang::Expr& expr, Call& call) {
  Placement placement = placer_.place(expr, {path_, in_initialiser_, in_handler_});
  call.form = placement.form;
  call.reason = std::move(placement.reason);
  call.macro = std::move(placement.macro);
  call.begin = placement.text.begin;
  call.end = placement.text.end;
  call.full_expr = placement.full_expr;
  set_place(placement.text.file, call);
}

/// For calls that have no text of their own.
void BodyWalker::locate_refused(clang::SourceLocation location, Call& call, const char* reason) {
  refuse(call, reason);
  const auto [file, offset] = sources_.getDecomposedLoc(sources_.getExpansionLoc(location));
  call.begin = call.end = call.full_expr = offset;
  set_place(file, call);
}

void BodyWalker::set_place(clang::FileID file, Call& call) {
  const clang::FileEntry* entry = sources_.getFileEntryForID(file);
  call.file = entry == nullptr ? "" : tree_path_(*entry);
  if (call.file.empty()) {
    call.file = function_.file;
    refuse(call, "its text is outside the source tree");
  }
  bool invalid = false;
  call.line = sources_.getLineNumber(file, call.begin, &invalid);
  call.column = sources_.getColumnNumber(file, call.begin, &invalid);
}

}  // namespace vprof::instrumenter
