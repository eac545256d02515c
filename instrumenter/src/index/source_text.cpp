#include "index/source_text.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace vprof::instrumenter {

using clang::dyn_cast;
using clang::isa;

SourceText::SourceText(clang::ASTContext& context)
    : sources_(context.getSourceManager()), language_(context.getLangOpts()) {}

std::optional<TextRange> SourceText::text_of(const clang::Stmt& stmt) const {
  clang::SourceLocation begin = stmt.getBeginLoc();
  clang::SourceLocation end = stmt.getEndLoc();
  if (begin.isInvalid() || end.isInvalid()) {
    return std::nullopt;
  }
  // The spelling of a macro argument is never taken: the macro may expand it more than once, or
  // turn it into a string.
  if (begin.isMacroID() &&
      !clang::Lexer::isAtStartOfMacroExpansion(begin, sources_, language_, &begin)) {
    return std::nullopt;
  }
  if (end.isMacroID() && !clang::Lexer::isAtEndOfMacroExpansion(end, sources_, language_, &end)) {
    return std::nullopt;
  }
  const auto [begin_file, begin_offset] = sources_.getDecomposedLoc(begin);
  const auto [end_file, end_offset] = sources_.getDecomposedLoc(end);
  const unsigned last = clang::Lexer::MeasureTokenLength(end, sources_, language_);
  if (begin_file != end_file || end_offset + last <= begin_offset) {
    return std::nullopt;
  }
  return TextRange{begin_file, begin_offset, end_offset + last};
}

std::optional<WrappedPiece> SourceText::piece_around(const clang::Expr& call,
                                                     const Ancestors& ancestors) const {
  if (!call.getBeginLoc().isFileID()) {
    return expansion_around(call, ancestors);
  }
  const std::optional<TextRange> text = text_of(call);
  if (!text) {
    return std::nullopt;
  }
  return WrappedPiece{&call, ancestors.size(), *text, "", {}};
}

/// The `#define` of the outermost macro that a location comes from: the begin of its line. Its text
/// may begin in a later line, behind backslashes.
clang::SourceLocation SourceText::definition_of_macro(clang::SourceLocation in_macro) const {
  clang::SourceLocation outermost = in_macro;
  while (true) {
    const clang::SourceLocation from = sources_.getImmediateExpansionRange(outermost).getBegin();
    if (!from.isMacroID()) {
      break;
    }
    outermost = from;
  }
  const clang::SourceLocation text =
      sources_.getSLocEntry(sources_.getFileID(outermost)).getExpansion().getSpellingLoc();
  const auto [file, offset] = sources_.getDecomposedSpellingLoc(text);
  bool invalid = false;
  const llvm::StringRef buffer = sources_.getBufferData(file, &invalid);
  if (invalid || offset > buffer.size()) {
    return {};
  }
  const auto begin_of_line = [&](size_t at) { return buffer.rfind('\n', at) + 1; };  // npos + 1: 0
  size_t line = offset == 0 ? 0 : begin_of_line(offset - 1);
  while (line >= 2 && buffer.substr(0, line - 1).rtrim("\r").ends_with("\\")) {
    line = line < 2 ? 0 : begin_of_line(line - 2);
  }
  return sources_.getLocForStartOfFile(file).getLocWithOffset(static_cast<int>(line));
}

/// The smallest piece of the syntax tree that is exactly the outermost expansion the call comes
/// from. A call of which only the callee comes from a macro (`#define call f` … `call(x)`) includes
/// its arguments.
std::optional<WrappedPiece> SourceText::expansion_around(const clang::Expr& call,
                                                         const Ancestors& ancestors) const {
  const size_t depth = ancestors.size();
  const clang::SourceLocation in_macro = call.getBeginLoc();
  const clang::CharSourceRange expansion = sources_.getExpansionRange(in_macro);
  const auto [file, begin] = sources_.getDecomposedLoc(expansion.getBegin());
  unsigned end = sources_.getFileOffset(expansion.getEnd());
  if (expansion.isTokenRange()) {
    end += clang::Lexer::MeasureTokenLength(expansion.getEnd(), sources_, language_);
  }
  const std::string macro =
      clang::Lexer::getSourceText(clang::CharSourceRange::getTokenRange(expansion.getBegin()),
                                  sources_, language_)
          .str();
  for (size_t i = depth + 1; i-- > 0;) {
    const clang::Stmt* stmt = i == depth ? &call : ancestors[i];
    const std::optional<TextRange> text = text_of(*stmt);
    if (!text) {
      continue;
    }
    if (text->file != file || text->begin > begin || text->end < end) {
      continue;
    }
    const bool exact = text->begin == begin && text->end == end;
    const bool callee_only = i == depth && text->begin == begin;
    if (isa<clang::DeclStmt>(stmt)) {
      return std::nullopt;  // what it declares is used later
    }
    if (exact || callee_only) {
      return WrappedPiece{stmt, i, *text, macro, definition_of_macro(in_macro)};
    }
    const auto* block = dyn_cast<clang::CompoundStmt>(stmt);
    if (block == nullptr) {
      return std::nullopt;
    }
    std::vector<const clang::Stmt*> sequence = statements_of_expansion(*block, expansion);
    if (sequence.empty()) {
      return std::nullopt;
    }
    return WrappedPiece{
        sequence.front(),   i + 1, {file, begin, end}, macro, definition_of_macro(in_macro),
        std::move(sequence)};
  }
  return std::nullopt;
}

/// The statements of `block` that make up one macro expansion: `#define M(x) f(x); g(x);`. Empty if
/// the expansion contains anything else, such as a declaration or part of a statement.
std::vector<const clang::Stmt*> SourceText::statements_of_expansion(
    const clang::CompoundStmt& block, const clang::CharSourceRange& expansion) const {
  std::vector<const clang::Stmt*> sequence;
  const auto is_in_it = [&](clang::SourceLocation place) {
    return place.isMacroID() &&
           sources_.getExpansionRange(place).getBegin() == expansion.getBegin();
  };
  for (const clang::Stmt* stmt : block.body()) {
    const bool begins = is_in_it(stmt->getBeginLoc());
    if (begins != is_in_it(stmt->getEndLoc())) {
      return {};
    }
    if (!begins) {
      continue;
    }
    if (isa<clang::DeclStmt>(stmt)) {
      return {};
    }
    sequence.push_back(stmt);
  }
  if (sequence.empty() || !clang::Lexer::isAtStartOfMacroExpansion(sequence.front()->getBeginLoc(),
                                                                   sources_, language_)) {
    return {};
  }
  return sequence;
}

std::optional<unsigned> SourceText::semicolon_after(const TextRange& text) const {
  const clang::SourceLocation last =
      sources_.getLocForStartOfFile(text.file).getLocWithOffset(static_cast<int>(text.end) - 1);
  const clang::SourceLocation token = clang::Lexer::GetBeginningOfToken(last, sources_, language_);
  const std::optional<clang::Token> next = clang::Lexer::findNextToken(token, sources_, language_);
  if (!next || !next->is(clang::tok::semi) || next->getLocation().isMacroID()) {
    return std::nullopt;
  }
  const auto [file, offset] = sources_.getDecomposedLoc(next->getLocation());
  if (file != text.file) {
    return std::nullopt;
  }
  return offset + 1;
}

}  // namespace vprof::instrumenter
