#include "index/call_collector.h"

#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>
#include <fmt/format.h>

#include <algorithm>

#include "ast/callables.h"
#include "ast/callee_kinds.h"
#include "ast/control_flow.h"
#include "ast/decl_names.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

void describe_callee(const clang::FunctionDecl& callee, Call& call) {
  const clang::FunctionDecl& known = pattern_of(callee);
  call.callee_name = name_of(known);
  call.callee_key = call.callee_name + "@";
  call.callee_usr = usr_of(known);
  call.noreturn = never_returns(callee);
}

void refuse(Call& call, Reason reason) {
  call.form = Form::kRefused;
  call.reason = reason;
}

/// The type of the functions that a callee known only as a value may be.
clang::QualType type_called(const clang::Expr& callee) {
  if (const auto* access = dyn_cast<clang::BinaryOperator>(callee.IgnoreParens());
      access != nullptr && access->isPtrMemOp()) {
    return pointed_function(access->getRHS()->getType());
  }
  const clang::QualType function = pointed_function(callee.getType());
  return function.isNull() ? callee.getType() : function;
}

bool is_virtual_call(const clang::CallExpr& expr, const clang::FunctionDecl& callee) {
  const auto* member = dyn_cast<clang::MemberExpr>(expr.getCallee()->IgnoreParenImpCasts());
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&callee);
  return member != nullptr && method != nullptr && method->isVirtual() && !member->hasQualifier();
}

}  // namespace

CallCollector::CallCollector(const clang::FunctionDecl& decl, const TreePath& tree_path,
                             TrivialOutside& trivial_outside, const ConstantUses& constant_uses,
                             Function& function)
    : context_(decl.getASTContext()),
      sources_(context_.getSourceManager()),
      tree_path_(tree_path),
      trivial_outside_(trivial_outside),
      constant_uses_(constant_uses),
      decl_(decl),
      placer_(context_),
      function_(function) {}

void CallCollector::note_call(const clang::CallExpr& expr, const Surroundings& around,
                              bool is_spelled) {
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
    call.type = signature_of(type_called(*expr.getCallee()));
  }
  if (is_spelled) {
    call.in_loop = in_loop(around);
    locate(placer_.place(expr, around), call);
  } else {
    locate_refused(expr.getBeginLoc(), call, Reason::kRangeFor);
  }
  call.trivial = callee != nullptr && is_outside(*callee) && trivial_outside_(*callee);
  if (const Reason reason = why_not(expr, callee, call); reason != Reason::kNone) {
    refuse(call, reason);
  }
  const bool is_dependent = call.kind == CallKind::kIndirect && call.type.empty();
  function_.calls.push_back(std::move(call));
  if (is_dependent) {
    note_instantiated_callees(expr);
  }
  // The object that an operator is called on is not passed on.
  const bool on_object = isa<clang::CXXOperatorCallExpr>(expr) && callee != nullptr &&
                         isa<clang::CXXMethodDecl>(callee);
  const llvm::ArrayRef<const clang::Expr*> arguments{expr.getArgs(), expr.getNumArgs()};
  const CallKind passed =
      callee == nullptr ? kind_of_passing_to(*expr.getCallee()) : kind_of_passing(callee);
  note_passed_functions({callee, passed}, expr, on_object ? arguments.drop_front() : arguments);
}

void CallCollector::note_instantiated_callees(const clang::CallExpr& expr) {
  if (!instantiated_) {
    instantiated_.emplace(decl_);
  }
  for (const clang::FunctionDecl* callee : instantiated_->of(expr)) {
    if (is_declared_outside(*callee)) {
      continue;
    }
    Call call;
    describe_callee(*callee, call);
    call.noreturn = false;
    call.kind = CallKind::kInstance;
    locate_refused(expr.getBeginLoc(), call, Reason::kNone);
    function_.calls.push_back(std::move(call));
  }
}

Reason CallCollector::why_not(const clang::CallExpr& expr, const clang::FunctionDecl* callee,
                              const Call& call) {
  if (callee != nullptr && needs_callers_frame(*callee)) {
    return Reason::kCallersFrame;
  }
  if (is_cheap_library_call(expr, context_)) {
    return Reason::kCheapLibraryCall;
  }
  if (callee != nullptr && constant_uses_.is_constant(*callee) && call.form != Form::kStatement) {
    return Reason::kConstexprCallee;
  }
  if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(&expr);
      op != nullptr && op->getOperator() == clang::OO_Arrow) {
    return Reason::kArrow;
  }
  if (isa<clang::UserDefinedLiteral>(expr)) {
    return Reason::kLiteral;
  }
  if (callee != nullptr && isa<clang::CXXConversionDecl>(callee)) {
    return Reason::kConversion;
  }
  return Reason::kNone;
}

void CallCollector::note_region(const clang::Stmt& region, const Surroundings& around) {
  Call call;
  call.callee_name = fmt::format("region({})", function_.name);
  call.callee_key = call.callee_name + "@";
  call.in_loop = in_loop(around);
  locate(placer_.place_statement(region, around), call);
  function_.calls.push_back(std::move(call));
}

void CallCollector::note_construction(const clang::CXXConstructExpr& expr) {
  const clang::CXXConstructorDecl* constructor = expr.getConstructor();
  if (constructor == nullptr || constructor->isImplicit() || constructor->isDefaulted()) {
    return;
  }
  Call call;
  describe_callee(*constructor, call);
  locate_refused(expr.getBeginLoc(), call, Reason::kConstruction);
  call.trivial = is_outside(*constructor) && trivial_outside_(*constructor);
  function_.calls.push_back(std::move(call));
  note_passed_functions({constructor, kind_of_passing(constructor)}, expr,
                        {expr.getArgs(), expr.getNumArgs()});
}

void CallCollector::note_unresolved_construction(clang::QualType made, const clang::Expr& expr,
                                                 llvm::ArrayRef<const clang::Expr*> arguments) {
  note_passed_functions({nullptr, kind_of_passing_to_new(made)}, expr, arguments);
}

void CallCollector::note_destruction(clang::QualType type, const clang::Expr* expr,
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
  locate_refused(location, call, Reason::kDestruction);
  call.trivial = is_outside(*destructor) && trivial_outside_(*destructor);
  function_.calls.push_back(std::move(call));
}

void CallCollector::note_passed_functions(const Receiver& to, const clang::Expr& expr,
                                          llvm::ArrayRef<const clang::Expr*> arguments) {
  const clang::FunctionDecl* receiver = to.function;
  if (const auto* constructor = dyn_cast_or_null<clang::CXXConstructorDecl>(receiver);
      constructor != nullptr && constructor->isCopyOrMoveConstructor()) {
    return;
  }
  for (const clang::Expr* argument : arguments) {
    if (argument == nullptr) {
      continue;
    }
    const std::vector<const clang::FunctionDecl*> callables = callables_of(*argument);
    for (const clang::FunctionDecl* passed : callables) {
      if (is_passed_on(*passed, receiver)) {
        Call call;
        describe_callee(*passed, call);
        note_passed(to, expr, std::move(call));
      }
    }
    const clang::QualType type = pointed_function(argument->getType());
    if (callables.empty() && !type.isNull() && receiver != nullptr &&
        is_declared_outside(*receiver) && !argument->isValueDependent() &&
        !argument->isNullPointerConstant(context_, clang::Expr::NPC_ValueDependentIsNull)) {
      Call call;
      call.callee_name = fmt::format("(*{})", spelling(*argument));
      call.callee_key = call.callee_name + "@";
      call.type = signature_of(type);
      note_passed(to, expr, std::move(call));
    }
  }
}

void CallCollector::note_passed(const Receiver& receiver, const clang::Expr& expr, Call call) {
  call.noreturn = false;
  call.kind = receiver.kind;
  if (receiver.function != nullptr) {
    Call received;
    describe_callee(*receiver.function, received);
    call.receiver_key = std::move(received.callee_key);
    call.receiver_name = std::move(received.callee_name);
    call.receiver_usr = std::move(received.callee_usr);
  }
  locate_refused(expr.getBeginLoc(), call, Reason::kNone);
  function_.calls.push_back(std::move(call));
}

/// Objects with a call operator are passed around for other reasons as well, so they count only
/// where the receiver takes anything: a template, or a function of a library.
bool CallCollector::is_passed_on(const clang::FunctionDecl& passed,
                                 const clang::FunctionDecl* receiver) const {
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&passed);
  if (method == nullptr || method->getOverloadedOperator() != clang::OO_Call ||
      lambda_class(passed) != nullptr) {
    return true;
  }
  return !is_declared_outside(passed) &&
         (receiver == nullptr || receiver->isTemplateInstantiation() ||
          is_declared_outside(*receiver));
}

bool CallCollector::is_declared_outside(const clang::FunctionDecl& function) const {
  const clang::FileID file = sources_.getFileID(sources_.getExpansionLoc(function.getLocation()));
  const clang::FileEntry* entry = sources_.getFileEntryForID(file);
  return entry == nullptr || tree_path_(*entry).empty();
}

bool CallCollector::is_outside(const clang::FunctionDecl& callee) const {
  const clang::FunctionDecl* definition = callee.getDefinition();
  return definition != nullptr && is_declared_outside(*definition);
}

std::string CallCollector::spelling(const clang::Expr& callee) const {
  std::string text;
  llvm::raw_string_ostream out(text);
  callee.IgnoreParenImpCasts()->printPretty(out, nullptr, context_.getPrintingPolicy());
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > 60) {
    text = text.substr(0, 57) + "...";
  }
  return text;
}

bool CallCollector::in_loop(const Surroundings& around) const {
  return std::any_of(around.ancestors.begin(), around.ancestors.end(),
                     [&](const clang::Stmt* stmt) { return is_loop(*stmt, context_); });
}

void CallCollector::locate(Placement placement, Call& call) {
  call.form = placement.form;
  call.reason = placement.reason;
  call.macro = std::move(placement.macro);
  call.begin = placement.text.begin;
  call.end = placement.text.end;
  call.full_expr = placement.full_expr;
  set_place(placement.text.file, call);
  locate_macro(placement.macro_definition, call);
}

void CallCollector::locate_macro(clang::SourceLocation definition, Call& call) const {
  if (definition.isInvalid()) {
    return;
  }
  const auto [file, offset] = sources_.getDecomposedLoc(definition);
  const clang::FileEntry* entry = sources_.getFileEntryForID(file);
  if (entry == nullptr) {
    return;  // defined by the command line
  }
  const std::string in_tree = tree_path_(*entry);
  call.macro_file = in_tree.empty() ? entry->tryGetRealPathName().str() : in_tree;
  call.macro_line = sources_.getLineNumber(file, offset);
}

void CallCollector::locate_refused(clang::SourceLocation location, Call& call, Reason reason) {
  refuse(call, reason);
  const auto [file, offset] = sources_.getDecomposedLoc(sources_.getExpansionLoc(location));
  call.begin = call.end = call.full_expr = offset;
  set_place(file, call);
}

void CallCollector::set_place(clang::FileID file, Call& call) {
  const clang::FileEntry* entry = sources_.getFileEntryForID(file);
  call.file = entry == nullptr ? "" : tree_path_(*entry);
  if (call.file.empty()) {
    call.file = function_.file;
    refuse(call, Reason::kOutsideTree);
  }
  bool invalid = false;
  call.line = sources_.getLineNumber(file, call.begin, &invalid);
  call.column = sources_.getColumnNumber(file, call.begin, &invalid);
}

}  // namespace vprof::instrumenter
