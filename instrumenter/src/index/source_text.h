// The text of statements and calls, and the piece of text that would have to be wrapped to measure
// a call.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <optional>
#include <string>
#include <vector>

namespace vprof::instrumenter {

/// A piece of a file's text, by byte offsets; `end` is one past the last byte.
struct TextRange {
  clang::FileID file;
  unsigned begin = 0;
  unsigned end = 0;
};

/// What is wrapped: the call itself, or the macro expansion around it.
struct WrappedPiece {
  const clang::Stmt* stmt;
  size_t depth;  ///< its ancestors are the first `depth` ancestors of the call
  TextRange text;
  std::string macro;
  clang::SourceLocation macro_definition;  ///< of its `#define`, or in the same line
  /// The statements of a macro that is several statements of one block; else empty.
  std::vector<const clang::Stmt*> sequence = {};
};

using Ancestors = std::vector<const clang::Stmt*>;

class SourceText {
 public:
  explicit SourceText(clang::ASTContext& context);

  /// The text of `stmt` if all of it is written in one file, or if it is exactly a macro expansion
  /// (or begins or ends with one).
  std::optional<TextRange> text_of(const clang::Stmt& stmt) const;

  /// The piece to wrap for a call; none if its text is not in one piece.
  std::optional<WrappedPiece> piece_around(const clang::Expr& call,
                                           const Ancestors& ancestors) const;

  /// Offset behind the `;` that follows the text; none if something else follows.
  std::optional<unsigned> semicolon_after(const TextRange& text) const;

 private:
  clang::SourceLocation definition_of_macro(clang::SourceLocation in_macro) const;
  std::optional<WrappedPiece> expansion_around(const clang::Expr& call,
                                               const Ancestors& ancestors) const;
  std::vector<const clang::Stmt*> statements_of_expansion(
      const clang::CompoundStmt& block, const clang::CharSourceRange& expansion) const;

  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
};

}  // namespace vprof::instrumenter
