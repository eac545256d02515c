// Which text a call has and how it can be wrapped. docs/instrumenter.md lists the rules.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

#include <string>

#include "index/source_text.h"
#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// What surrounds the call that is being placed.
struct Surroundings {
  const Ancestors& ancestors;  ///< from the body of the function down to the parent of the call
  bool constructor_initialiser = false;
  bool handler_of_function_try = false;
  bool parallel_region = false;  ///< several threads may run it at once, in the frame of one
};

struct Placement {
  Form form = Form::kRefused;
  Reason reason = Reason::kNone;  ///< for kRefused
  std::string macro;              ///< the macro that is wrapped as a whole
  clang::SourceLocation macro_definition;
  TextRange text;
  unsigned full_expr = 0;  ///< offset of the full expression
};

/// Chooses the form of each call: the first rewriting rule that applies.
class Placer {
 public:
  explicit Placer(clang::ASTContext& context);

  Placement place(const clang::Expr& call, const Surroundings& around) const;

  /// Of a statement that stands where a block may stand.
  Placement place_statement(const clang::Stmt& stmt, const Surroundings& around) const;

 private:
  unsigned full_expression(const WrappedPiece& piece, const Ancestors& ancestors) const;
  void choose_form(const WrappedPiece& piece, const Surroundings& around,
                   Placement& placement) const;

  SourceText source_text_;
  const clang::SourceManager& sources_;
  const clang::LangOptions& language_;
};

}  // namespace vprof::instrumenter
