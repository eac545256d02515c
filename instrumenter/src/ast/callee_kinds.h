// Callees that are not measured, judged by their declaration.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>

namespace vprof::instrumenter {

/// Library functions that compilers turn into a few instructions, or that cost less than reading
/// the clock twice.
bool is_cheap_library_call(const clang::CallExpr& call, clang::ASTContext& context);

/// setjmp, alloca, va_start and the like: their effect is tied to the frame and block of their
/// caller.
bool needs_callers_frame(const clang::FunctionDecl& callee);

/// `__builtin_expect` and the like, which are not calls at all.
bool is_compiler_builtin(const clang::FunctionDecl& callee);

/// noreturn functions, and those that the analyser may take for such.
bool never_returns(const clang::FunctionDecl& callee);

}  // namespace vprof::instrumenter
