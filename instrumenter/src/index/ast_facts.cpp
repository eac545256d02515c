#include "index/ast_facts.h"

#include <clang/AST/ASTContext.h>
#include <clang/AST/Attr.h>
#include <clang/AST/DeclTemplate.h>
#include <clang/AST/RecursiveASTVisitor.h>
#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>
#include <fmt/format.h>

#include <set>
#include <unordered_set>

#include "ast/constant_uses.h"
#include "ast/control_flow.h"
#include "ast/copyable.h"
#include "ast/decl_names.h"
#include "ast/spin_loops.h"
#include "index/body_walker.h"
#include "index/suspensions.h"
#include "index/unrepeatable_text.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

/// Finds the functions with bodies, and describes each.
class FunctionCollector : public clang::RecursiveASTVisitor<FunctionCollector> {
 public:
  FunctionCollector(clang::ASTContext& context, const TreePath& tree_path,
                    const UnrepeatableText& unrepeatable_text, const ConstantUses& constant_uses,
                    std::vector<Function>& out)
      : context_(context),
        sources_(context.getSourceManager()),
        tree_path_(tree_path),
        unrepeatable_text_(unrepeatable_text),
        constant_uses_(constant_uses),
        out_(out) {}

  bool shouldVisitTemplateInstantiations() const { return false; }

  bool VisitFunctionDecl(clang::FunctionDecl* f) {
    if (f->doesThisDeclarationHaveABody() && !f->isDefaulted() && !f->isImplicit()) {
      describe(*f);
    }
    return true;
  }

  bool VisitLambdaExpr(clang::LambdaExpr* lambda) {
    describe(*lambda->getCallOperator());
    // A captureless lambda may become a pointer, which then points to its call operator.
    if (lambda->capture_size() == 0) {
      note_address(*lambda->getCallOperator());
    }
    return true;
  }

  bool VisitCallExpr(clang::CallExpr* call) {
    const clang::Expr* callee = call->getCallee()->IgnoreParenImpCasts();
    if (const auto* reference = dyn_cast<clang::DeclRefExpr>(callee)) {
      called_.insert(reference);
    }
    return true;
  }

  /// Parents are visited first, so a call is visited before its callee.
  bool VisitDeclRefExpr(clang::DeclRefExpr* reference) {
    const auto* function = dyn_cast<clang::FunctionDecl>(reference->getDecl());
    if (function != nullptr && called_.count(reference) == 0) {
      note_address(*function);
    }
    return true;
  }

  /// USRs of the functions whose address is taken.
  const std::set<std::string>& address_taken() const { return address_taken_; }

 private:
  void note_address(const clang::FunctionDecl& f) {
    if (!noted_.insert(f.getCanonicalDecl()).second) {
      return;
    }
    const std::string usr = usr_of(pattern_of(f));
    if (!usr.empty()) {
      address_taken_.insert(usr);
    }
  }

  void describe(const clang::FunctionDecl& f) {
    if (!described_.insert(&f).second) {
      return;
    }
    const clang::SourceLocation place = sources_.getExpansionLoc(
        lambda_class(f) != nullptr ? f.getBody()->getBeginLoc() : f.getLocation());
    const auto [file_id, offset] = sources_.getDecomposedLoc(place);
    const clang::FileEntry* file = sources_.getFileEntryForID(file_id);
    if (file == nullptr) {
      return;
    }
    Function out;
    out.file = tree_path_(*file);
    if (out.file.empty()) {
      return;
    }
    out.in_tree = true;
    out.line = sources_.getLineNumber(file_id, offset);
    out.column = sources_.getColumnNumber(file_id, offset);
    out.name = name_of(f);
    out.key = fmt::format("{}@{}:{}", out.name, out.file, out.line);
    out.usr = usr_of(f);
    out.is_cxx = context_.getLangOpts().CPlusPlus;
    out.is_method = isa<clang::CXXMethodDecl>(f);
    out.type = signature_of(f.getType());
    if (const auto* method = dyn_cast<clang::CXXMethodDecl>(&f)) {
      for (const clang::CXXMethodDecl* overridden : method->overridden_methods()) {
        out.overrides.push_back(usr_of(pattern_of(*overridden)));
      }
    }
    out.returns_void = f.getReturnType()->isVoidType();
    out.variadic = f.isVariadic();
    for (const clang::ParmVarDecl* parameter : f.parameters()) {
      out.params.push_back(parameter->getNameAsString());
    }
    out.name_begin = offset;
    out.name_end =
        offset + clang::Lexer::MeasureTokenLength(place, sources_, context_.getLangOpts());
    place_body(f, file_id, out);
    if (has_guaranteed_tail_call(f)) {  // whatever else it is: no call in it can be wrapped either
      out.refused = Reason::kGuaranteedTailCall;
    }
    walk(f, out);
    out.unique =
        (out.is_cxx ? has_unique_body(f) : is_one_of_a_kind(f)) ||
        unrepeatable_text_.is_within(file_id, out.is_cxx ? out.body : out.head_begin, out.body_end);
    out.spins = spin_loops_of(f, sources_);
    out_.push_back(std::move(out));
  }

  void place_body(const clang::FunctionDecl& f, clang::FileID file, Function& out) const {
    const clang::Stmt* body = f.getBody();
    if (const auto* coroutine = dyn_cast<clang::CoroutineBodyStmt>(body)) {
      body = coroutine->getBody();
    }
    if (const auto* function_try = dyn_cast<clang::CXXTryStmt>(body)) {
      body = function_try->getTryBlock();
    }
    const auto* block = dyn_cast<clang::CompoundStmt>(body);
    if (constant_uses_.is_constant(f)) {
      out.refused = Reason::kConstexpr;
    }
    if (f.hasAttr<clang::NakedAttr>()) {
      out.refused = Reason::kNaked;
    }
    if (f.hasAttr<clang::NoInstrumentFunctionAttr>()) {
      out.refused = Reason::kNoInstrument;
    }
    if (block == nullptr) {
      if (out.refused == Reason::kNone) {
        out.refused = Reason::kNoBlock;
      }
      return;
    }
    if (block->getLBracLoc().isMacroID() || block->getRBracLoc().isMacroID()) {
      out.refused = Reason::kBodyFromMacro;
      return;
    }
    const auto [body_file, open] = sources_.getDecomposedLoc(block->getLBracLoc());
    const auto [end_file, close] = sources_.getDecomposedLoc(block->getRBracLoc());
    const auto [head_file, head] =
        sources_.getDecomposedLoc(sources_.getExpansionLoc(f.getOuterLocStart()));
    if (body_file != file || end_file != file || head_file != file) {
      out.refused = Reason::kSeveralFiles;
      return;
    }
    const unsigned open_end = open + clang::Lexer::MeasureTokenLength(
                                         block->getLBracLoc(), sources_, context_.getLangOpts());
    out.body = after_pragmas(file, after_local_labels(*block, open_end));
    // Behind an escaped end of line, a token begins where that does.
    out.body_end = close + clang::Lexer::MeasureTokenLength(block->getRBracLoc(), sources_,
                                                            context_.getLangOpts());
    out.head_begin = head;
  }

  /// GNU's `__label__ name;` must stay the first in its block.
  unsigned after_local_labels(const clang::CompoundStmt& block, unsigned begin) const {
    for (const clang::Stmt* stmt : block.body()) {
      const auto* declaration = dyn_cast<clang::DeclStmt>(stmt);
      if (declaration == nullptr || declaration->decls().empty() ||
          !isa<clang::LabelDecl>(*declaration->decl_begin())) {
        break;
      }
      const clang::SourceLocation end = sources_.getExpansionRange(stmt->getEndLoc()).getEnd();
      begin = sources_.getFileOffset(end) +
              clang::Lexer::MeasureTokenLength(end, sources_, context_.getLangOpts());
    }
    return begin;
  }

  /// Pragmas that are about a whole block, such as `#pragma STDC FENV_ACCESS ON`, must stay the
  /// first in it.
  unsigned after_pragmas(clang::FileID file, unsigned begin) const {
    const llvm::StringRef text = sources_.getBufferData(file);
    clang::Lexer lexer(sources_.getLocForStartOfFile(file), context_.getLangOpts(), text.begin(),
                       text.begin() + begin, text.end());
    clang::Token token;
    const auto next_is = [&](llvm::StringRef word) {
      lexer.LexFromRawLexer(token);
      return token.is(clang::tok::raw_identifier) && token.getRawIdentifier() == word;
    };
    const auto is_about_block = [&] {
      return next_is("pragma") &&
             (next_is("STDC") || (token.is(clang::tok::raw_identifier) &&
                                  (token.getRawIdentifier() == "float_control" ||
                                   (token.getRawIdentifier() == "clang" && next_is("fp")))));
    };
    unsigned after = begin;
    lexer.LexFromRawLexer(token);
    while (token.is(clang::tok::hash)) {
      if (!is_about_block()) {
        return begin;
      }
      do {
        lexer.LexFromRawLexer(token);
      } while (!token.isAtStartOfLine() && token.isNot(clang::tok::eof));
      after = sources_.getFileOffset(token.getLocation());
    }
    return after;
  }

  void walk(const clang::FunctionDecl& f, Function& out) {
    BodyWalker walker(f, tree_path_, trivial_outside_, constant_uses_, out);
    if (const auto* constructor = dyn_cast<clang::CXXConstructorDecl>(&f)) {
      walker.walk_initialisers(*constructor);
    }
    walker.walk_body(f.getBody());
    out.bare_macros =
        walker.bare_macros(sources_.getFileID(sources_.getExpansionLoc(f.getLocation())));
    out.trivial = walker.trivial();
    out.size = walker.size();
    out.loops = walker.has_loop_or_jump();
    out.endless = has_endless_loop(f);
    if (out.is_cxx) {
      out.labels = labels_of(f);
    }
    if (!out.is_cxx) {
      out.is_inline = f.isInlined() || f.hasAttr<clang::AlwaysInlineAttr>();
    }
    if (isa<clang::CoroutineBodyStmt>(f.getBody()) || !out.suspensions.empty()) {
      out.coroutine = true;
      out.returns = class_name(f.getReturnType());
      out.trivial = false;
    }
  }

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const TreePath& tree_path_;
  const UnrepeatableText& unrepeatable_text_;
  const ConstantUses& constant_uses_;
  std::vector<Function>& out_;
  TrivialOutside trivial_outside_;
  std::unordered_set<const clang::FunctionDecl*> described_;
  std::unordered_set<const clang::DeclRefExpr*> called_;
  std::unordered_set<const clang::FunctionDecl*> noted_;
  std::set<std::string> address_taken_;
};

/// Sets the keys of callees that are defined in this unit. Only here can two `static` functions of
/// one name be distinguished.
void resolve_within_unit(std::vector<Function>& functions) {
  std::unordered_map<std::string, const Function*> by_usr;
  for (const Function& f : functions) {
    if (!f.usr.empty()) {
      by_usr.emplace(f.usr, &f);
    }
  }
  for (Function& f : functions) {
    for (Call& call : f.calls) {
      const auto it = by_usr.find(call.callee_usr);
      if (!call.callee_usr.empty() && it != by_usr.end()) {
        call.callee_key = it->second->key;
      }
      const auto receiver = by_usr.find(call.receiver_usr);
      if (!call.receiver_usr.empty() && receiver != by_usr.end()) {
        call.receiver_key = receiver->second->key;
      }
    }
  }
}

}  // namespace

UnitFacts facts_of_unit(clang::ASTContext& context, const UnrepeatableText& unrepeatable_text,
                        const TreePath& tree_path) {
  std::vector<clang::Decl*> in_tree;
  const clang::SourceManager& sources = context.getSourceManager();
  for (clang::Decl* decl : context.getTranslationUnitDecl()->decls()) {
    // System headers make up most of a unit: they are skipped without looking inside.
    const clang::FileID file = sources.getFileID(sources.getExpansionLoc(decl->getLocation()));
    const clang::FileEntry* entry = sources.getFileEntryForID(file);
    if (entry != nullptr && !tree_path(*entry).empty()) {
      in_tree.push_back(decl);
    }
  }
  ConstantUses constant_uses(context);
  if (context.getLangOpts().CPlusPlus17) {  // before that, no lambda is constexpr
    for (clang::Decl* decl : in_tree) {
      constant_uses.look_through(*decl);
    }
  }
  std::vector<Function> functions;
  FunctionCollector collector(context, tree_path, unrepeatable_text, constant_uses, functions);
  for (clang::Decl* decl : in_tree) {
    collector.TraverseDecl(decl);
  }
  resolve_within_unit(functions);
  const std::set<std::string>& taken = collector.address_taken();
  return {std::move(functions), {taken.begin(), taken.end()}};
}

}  // namespace vprof::instrumenter
