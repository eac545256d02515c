// Where control goes in a body.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Decl.h>
#include <clang/AST/Stmt.h>

namespace vprof::instrumenter {

/// `do { } while (0)` around the statements of a macro is none.
bool is_loop(const clang::Stmt& stmt, const clang::ASTContext& context);

/// Whether the function contains a loop that nothing in it leaves: the main loop of a server or of
/// a thread.
bool has_endless_loop(const clang::FunctionDecl& function);

/// Whether a `return` of the function must become a jump to the callee (clang::musttail). Nothing
/// may then be left to do after the call, such as ending a scope.
bool has_guaranteed_tail_call(const clang::FunctionDecl& function);

/// Whether control never comes to the end of a statement: it ends in a function that does not
/// return, or in `__builtin_unreachable()`. Constant conditions are known.
bool never_completes(const clang::Stmt& stmt, const clang::ASTContext& context);

}  // namespace vprof::instrumenter
