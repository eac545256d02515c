#include "ast_facts.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Index/USRGeneration.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>
#include <llvm/ADT/SmallString.h>

#include <unordered_set>

#include "placement.h"
#include "trivial.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// More statement nodes than this are not "a few instructions" (DESIGN §6, trivial callees).
constexpr int kTrivialNodes = 24;

std::string usr_of(const clang::Decl& decl) {
  llvm::SmallString<128> usr;
  if (clang::index::generateUSRForDecl(&decl, usr)) return "";
  return usr.str().str();
}

/// The declaration users know: a template's pattern instead of its instantiation.
const clang::FunctionDecl& pattern_of(const clang::FunctionDecl& f) {
  const clang::FunctionDecl* pattern = f.getTemplateInstantiationPattern();
  return pattern == nullptr ? f : *pattern;
}

const clang::CXXRecordDecl* lambda_class(const clang::FunctionDecl& f) {
  const auto* method = dyn_cast<clang::CXXMethodDecl>(&f);
  if (method == nullptr || !method->getParent()->isLambda()) return nullptr;
  return method->getParent();
}

std::string name_of(const clang::FunctionDecl& f) {
  if (const clang::CXXRecordDecl* lambda = lambda_class(f)) {
    const clang::DeclContext* around = lambda->getDeclContext();
    while (around != nullptr && !isa<clang::FunctionDecl>(around)) around = around->getParent();
    const auto* owner = dyn_cast_or_null<clang::FunctionDecl>(around);
    return (owner == nullptr ? std::string() : name_of(*owner) + "::") + "lambda";
  }
  std::string name;
  llvm::raw_string_ostream out(name);
  clang::PrintingPolicy policy(f.getASTContext().getLangOpts());
  policy.SuppressUnwrittenScope = true;  // no "(anonymous namespace)::"
  policy.TerseOutput = true;
  f.printQualifiedName(out, policy);
  return name;
}

bool never_returns(const clang::FunctionDecl& f) {
  return f.isNoReturn() || f.hasAttr<clang::AnalyzerNoReturnAttr>();
}

/// Walks one function body and collects its calls.
class BodyWalker {
 public:
  BodyWalker(clang::ASTContext& context, const TreePath& tree_path, TrivialOutside& trivial_outside,
             Function& function)
      : context_(context),
        sources_(context.getSourceManager()),
        tree_path_(tree_path),
        trivial_outside_(trivial_outside),
        placer_(context),
        function_(function) {}

  void walk_body(const clang::Stmt* body) { visit(body); }

  void walk_initialisers(const clang::CXXConstructorDecl& constructor) {
    in_initialiser_ = true;
    for (const clang::CXXCtorInitializer* init : constructor.inits())
      if (init->isWritten()) visit(init->getInit());
    in_initialiser_ = false;
  }

  bool trivial() const {
    return nodes_ <= kTrivialNodes && !has_loop_or_jump_ && function_.calls.empty();
  }

 private:
  void visit(const clang::Stmt* stmt) {
    if (stmt == nullptr || isa<clang::ConstantExpr>(stmt)) return;
    ++nodes_;
    if (isa<clang::ForStmt, clang::WhileStmt, clang::DoStmt, clang::CXXForRangeStmt,
            clang::GotoStmt, clang::IndirectGotoStmt, clang::AsmStmt, clang::CXXNewExpr,
            clang::CXXDeleteExpr>(stmt))
      has_loop_or_jump_ = true;
    // In a template, an operator on what is not known yet may be a call.
    if (const auto* expr = dyn_cast<clang::Expr>(stmt);
        expr != nullptr && expr->isTypeDependent() &&
        isa<clang::ArraySubscriptExpr, clang::BinaryOperator, clang::UnaryOperator>(expr))
      has_loop_or_jump_ = true;
    // Not evaluated, or bodies of their own.
    if (isa<clang::UnaryExprOrTypeTraitExpr, clang::CXXNoexceptExpr, clang::CXXTypeidExpr,
            clang::RequiresExpr, clang::OMPExecutableDirective>(stmt))
      return;
    if (const auto* call = dyn_cast<clang::CallExpr>(stmt)) note_call(*call);
    if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(stmt))
      note_construction(*construction);
    path_.push_back(stmt);
    visit_children(*stmt);
    path_.pop_back();
  }

  /// The children that are evaluated where they stand.
  void visit_children(const clang::Stmt& stmt) {
    if (const auto* selection = dyn_cast<clang::GenericSelectionExpr>(&stmt))
      return selection->isResultDependent() ? void() : visit(selection->getResultExpr());
    if (const auto* choice = dyn_cast<clang::ChooseExpr>(&stmt))
      return choice->isConditionDependent() ? void() : visit(choice->getChosenSubExpr());
    if (const auto* lambda = dyn_cast<clang::LambdaExpr>(&stmt)) {
      for (const clang::Expr* init : lambda->capture_inits()) visit(init);
      return;
    }
    if (const auto* loop = dyn_cast<clang::CXXForRangeStmt>(&stmt)) {
      // The calls of begin(), end() and ++ are not spelled anywhere.
      visit(loop->getInit());
      visit(loop->getRangeInit());
      return visit(loop->getBody());
    }
    if (const auto* pseudo = dyn_cast<clang::PseudoObjectExpr>(&stmt))
      return visit(pseudo->getSyntacticForm());
    if (const auto* declaration = dyn_cast<clang::DeclStmt>(&stmt)) {
      for (const clang::Decl* decl : declaration->decls()) visit_initialiser(*decl);
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
      for (unsigned i = 0; i < block->getNumHandlers(); ++i) visit(block->getHandler(i));
      in_handler_ = false;
      return;
    }
    for (const clang::Stmt* child : stmt.children()) visit(child);
  }

  void visit_initialiser(const clang::Decl& decl) {
    const auto* variable = dyn_cast<clang::VarDecl>(&decl);
    if (variable == nullptr || variable->isConstexpr()) return;
    if (variable->isStaticLocal() && !context_.getLangOpts().CPlusPlus) return;
    visit(variable->getInit());
  }

  void note_call(const clang::CallExpr& expr) {
    Call call;
    const clang::FunctionDecl* callee = expr.getDirectCallee();
    if (callee != nullptr) {
      if (is_compiler_builtin(*callee)) return;
      if (callee->isConsteval()) return;
      describe_callee(*callee, call);
      const auto* method = dyn_cast<clang::MemberExpr>(expr.getCallee()->IgnoreParenImpCasts());
      const auto* virtual_method = dyn_cast<clang::CXXMethodDecl>(callee);
      if (method != nullptr && virtual_method != nullptr && virtual_method->isVirtual() &&
          !method->hasQualifier())
        call.kind = CallKind::kVirtual;
    } else if (isa<clang::CXXPseudoDestructorExpr>(expr.getCallee()->IgnoreParens())) {
      return;
    } else {
      call.kind = CallKind::kIndirect;
      call.callee_name = fmt::format("(*{})", spelling(*expr.getCallee()));
      call.callee_key = call.callee_name + "@";
    }
    locate(expr, call);
    if (callee != nullptr && needs_callers_frame(*callee)) refuse(call, "needs its caller's frame");
    if (callee != nullptr && is_outside(*callee) && trivial_outside_(*callee)) call.trivial = true;
    if (is_cheap_library_call(expr, context_))
      refuse(call, "library function cheaper than reading the clock");
    if (callee != nullptr && callee->isConstexpr() && call.form != Form::kStatement)
      refuse(call, "constexpr callee");
    if (const auto* op = dyn_cast<clang::CXXOperatorCallExpr>(&expr);
        op != nullptr && op->getOperator() == clang::OO_Arrow)
      refuse(call, "operator->");
    if (isa<clang::UserDefinedLiteral>(expr)) refuse(call, "user-defined literal");
    if (callee != nullptr && isa<clang::CXXConversionDecl>(callee))
      refuse(call, "implicit conversion");
    function_.calls.push_back(std::move(call));
  }

  void note_construction(const clang::CXXConstructExpr& expr) {
    const clang::CXXConstructorDecl* constructor = expr.getConstructor();
    if (constructor == nullptr || constructor->isImplicit() || constructor->isDefaulted()) return;
    Call call;
    describe_callee(*constructor, call);
    locate(expr, call);
    refuse(call, "construction (measured at the constructor's entry)");
    function_.calls.push_back(std::move(call));
  }

  bool is_outside(const clang::FunctionDecl& callee) const {
    const clang::FunctionDecl* definition = callee.getDefinition();
    if (definition == nullptr) return false;
    const clang::FileID file =
        sources_.getFileID(sources_.getExpansionLoc(definition->getLocation()));
    const clang::FileEntry* entry = sources_.getFileEntryForID(file);
    return entry == nullptr || tree_path_(*entry).empty();
  }

  static void describe_callee(const clang::FunctionDecl& callee, Call& call) {
    const clang::FunctionDecl& known = pattern_of(callee);
    call.callee_name = name_of(known);
    call.callee_key = call.callee_name + "@";
    call.callee_usr = usr_of(known);
    call.noreturn = never_returns(callee);
  }

  static void refuse(Call& call, const char* reason) {
    call.form = Form::kRefused;
    call.reason = reason;
  }

  std::string spelling(const clang::Expr& callee) const {
    std::string text;
    llvm::raw_string_ostream out(text);
    callee.IgnoreParenImpCasts()->printPretty(out, nullptr, context_.getPrintingPolicy());
    for (char& c : text)
      if (c == '\n') c = ' ';
    if (text.size() > 60) text = text.substr(0, 57) + "...";
    return text;
  }

  void locate(const clang::Expr& expr, Call& call) {
    Placement placement = placer_.place(expr, {path_, in_initialiser_, in_handler_});
    call.form = placement.form;
    call.reason = std::move(placement.reason);
    call.macro = std::move(placement.macro);
    call.begin = placement.text.begin;
    call.end = placement.text.end;
    call.full_expr = placement.full_expr;
    const clang::FileEntry* file = sources_.getFileEntryForID(placement.text.file);
    call.file = file == nullptr ? "" : tree_path_(*file);
    if (call.file.empty()) {
      call.file = function_.file;
      refuse(call, "its text is outside the source tree");
    }
    bool invalid = false;
    call.line = sources_.getLineNumber(placement.text.file, call.begin, &invalid);
    call.column = sources_.getColumnNumber(placement.text.file, call.begin, &invalid);
  }

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
};

/// Finds the functions with bodies, and describes each.
class FunctionCollector : public clang::RecursiveASTVisitor<FunctionCollector> {
 public:
  FunctionCollector(clang::ASTContext& context, const TreePath& tree_path,
                    std::vector<Function>& out)
      : context_(context), sources_(context.getSourceManager()), tree_path_(tree_path), out_(out) {}

  bool shouldVisitTemplateInstantiations() const { return false; }

  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    if (f->doesThisDeclarationHaveABody() && !f->isDefaulted() && !f->isImplicit()) describe(*f);
    return true;
  }

  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    describe(*lambda->getCallOperator());
    return true;
  }

 private:
  void describe(const clang::FunctionDecl& f) {
    if (!described_.insert(&f).second) return;
    const clang::SourceLocation place = sources_.getExpansionLoc(
        lambda_class(f) != nullptr ? f.getBody()->getBeginLoc() : f.getLocation());
    const auto [file_id, offset] = sources_.getDecomposedLoc(place);
    const clang::FileEntry* file = sources_.getFileEntryForID(file_id);
    if (file == nullptr) return;
    Function out;
    out.file = tree_path_(*file);
    if (out.file.empty()) return;
    out.in_tree = true;
    out.line = sources_.getLineNumber(file_id, offset);
    out.column = sources_.getColumnNumber(file_id, offset);
    out.name = name_of(f);
    out.key = fmt::format("{}@{}:{}", out.name, out.file, out.line);
    out.usr = usr_of(f);
    out.is_cxx = context_.getLangOpts().CPlusPlus;
    out.is_method = isa<clang::CXXMethodDecl>(f);
    out.returns_void = f.getReturnType()->isVoidType();
    out.variadic = f.isVariadic();
    for (const clang::ParmVarDecl* parameter : f.parameters())
      out.params.push_back(parameter->getNameAsString());
    out.name_begin = offset;
    out.name_end =
        offset + clang::Lexer::MeasureTokenLength(place, sources_, context_.getLangOpts());
    place_body(f, file_id, out);
    walk(f, out);
    out_.push_back(std::move(out));
  }

  void place_body(const clang::FunctionDecl& f, clang::FileID file, Function& out) const {
    const clang::Stmt* body = f.getBody();
    if (isa<clang::CoroutineBodyStmt>(body)) out.refused = "coroutine";
    if (const auto* function_try = dyn_cast<clang::CXXTryStmt>(body))
      body = function_try->getTryBlock();
    const auto* block = dyn_cast<clang::CompoundStmt>(body);
    if (f.isConstexpr()) out.refused = "constexpr";
    if (f.hasAttr<clang::NakedAttr>()) out.refused = "naked function";
    if (f.hasAttr<clang::NoInstrumentFunctionAttr>()) out.refused = "no_instrument_function";
    if (f.getLocation().isMacroID()) out.refused = "defined by a macro";
    if (block == nullptr) {
      if (out.refused.empty()) out.refused = "no block as a body";
      return;
    }
    if (block->getLBracLoc().isMacroID() || block->getRBracLoc().isMacroID()) {
      out.refused = "its body comes from a macro";
      return;
    }
    const auto [body_file, open] = sources_.getDecomposedLoc(block->getLBracLoc());
    const auto [end_file, close] = sources_.getDecomposedLoc(block->getRBracLoc());
    const auto [head_file, head] =
        sources_.getDecomposedLoc(sources_.getExpansionLoc(f.getOuterLocStart()));
    if (body_file != file || end_file != file || head_file != file) {
      out.refused = "spread over several files";
      return;
    }
    out.body = open + 1;
    out.body_end = close + 1;
    out.head_begin = head;
  }

  void walk(const clang::FunctionDecl& f, Function& out) {
    BodyWalker walker(context_, tree_path_, trivial_outside_, out);
    if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(&f))
      walker.walk_initialisers(*constructor);
    walker.walk_body(f.getBody());
    out.trivial = walker.trivial();
    if (const auto* body = dyn_cast<clang::CoroutineBodyStmt>(f.getBody()); body != nullptr)
      for (Call& call : out.calls) {
        call.form = Form::kRefused;
        call.reason = "in a coroutine";
      }
  }

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TreePath& tree_path_;
  std::vector<Function>& out_;
  TrivialOutside trivial_outside_;
  std::unordered_set<const clang::FunctionDecl*> described_;
};

/// Keys of callees that are defined in this very unit: only here can two `static` functions of one
/// name be told apart.
void resolve_within_unit(std::vector<Function>& functions) {
  std::unordered_map<std::string, const Function*> by_usr;
  for (const Function& f : functions)
    if (!f.usr.empty()) by_usr.emplace(f.usr, &f);
  for (Function& f : functions) {
    for (Call& call : f.calls) {
      const auto it = by_usr.find(call.callee_usr);
      if (!call.callee_usr.empty() && it != by_usr.end()) call.callee_key = it->second->key;
    }
  }
}

}  // namespace

std::vector<Function> functions_of_unit(clang::ASTContext& context, const TreePath& tree_path) {
  std::vector<Function> functions;
  FunctionCollector collector(context, tree_path, functions);
  const clang::SourceManager& sources = context.getSourceManager();
  for (clang::Decl* decl : context.getTranslationUnitDecl()->decls()) {
    // System headers are most of a unit: they are passed over without looking inside.
    const clang::FileID file = sources.getFileID(sources.getExpansionLoc(decl->getLocation()));
    const clang::FileEntry* entry = sources.getFileEntryForID(file);
    if (entry == nullptr || tree_path(*entry).empty()) continue;
    collector.TraverseDecl(decl);
  }
  resolve_within_unit(functions);
  return functions;
}

}  // namespace vprof::instrumenter
