// Loops of the program under study.
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

}  // namespace vprof::instrumenter
