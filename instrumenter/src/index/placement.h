// Where the text of a call stands and how it could be wrapped: the rules of DESIGN §6.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include <optional>
#include <string>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// A piece of a file's text, by byte offsets; `end` is one past the last byte.
struct TextRange {
  clang::FileID file;
  unsigned begin = 0;
  unsigned end = 0;
};

/// What surrounds the call that is being placed.
struct Surroundings {
  const std::vector<const clang::Stmt*>&
      ancestors;  ///< from the body of the function down to the parent of the call
  bool constructor_initialiser = false;
  bool handler_of_function_try = false;
};

struct Placement {
  Form form = Form::kRefused;
  std::string reason;  ///< for kRefused
  std::string macro;   ///< the macro that is wrapped as a whole
  TextRange text;
  unsigned full_expr = 0;  ///< offset of the full expression
};

class Placer {
 public:
  explicit Placer(clang::ASTContext& context);

  Placement place(const clang::Expr& call, const Surroundings& around) const;

  /// The text of `stmt` if all of it is spelled in one file, or if it is exactly a macro expansion
  /// (or starts or ends with one).
  std::optional<TextRange> text_of(const clang::Stmt& stmt) const;

 private:
  struct Unit;
  std::optional<Unit> unit_to_wrap(const clang::Expr& call, const Surroundings& around) const;
  std::vector<const clang::Stmt*> statements_of_expansion(
      const clang::CompoundStmt& block, const clang::CharSourceRange& expansion) const;
  Placement place_sequence(const Unit& unit, Placement placement) const;
  bool is_statement(const Unit& unit, const Surroundings& around) const;
  std::optional<unsigned> semicolon_after(const TextRange& text) const;
  Placement expression_form(const Unit& unit, const Surroundings& around,
                            Placement placement) const;

  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
};

/// Library functions that compilers turn into a few instructions, or that cost less than reading
/// the clock twice.
bool is_cheap_library_call(const clang::CallExpr& call, clang::ASTContext& context);

/// setjmp, alloca, va_start and their like: what they do belongs to the frame and block of their
/// caller.
bool needs_callers_frame(const clang::FunctionDecl& callee);

/// `__builtin_expect` and its like: not calls at all.
bool is_compiler_builtin(const clang::FunctionDecl& callee);

}  // namespace vprof::instrumenter
