// Whether a second copy of a function, or of its body, may stand beside it.
#pragma once

#include <clang/AST/Decl.h>

#include <set>
#include <string>

namespace vprof::instrumenter {

/// Whether a copy of the definition, under another name, would mean something else or would not
/// compile: a static local variable, which is then there twice, a label whose address is taken, an
/// assembler statement, an attribute such as `constructor`, ...
bool is_one_of_a_kind(const clang::FunctionDecl& function);

/// The same of a second copy of the body in the same function of C++, only one of which runs: a
/// static local variable, a local type or a lambda (templates could tell the two types
/// apart), an object that is returned by value (which is then no longer constructed in place), ...
bool has_unique_body(const clang::FunctionDecl& function);

/// The labels that both bodies would have.
std::set<std::string> labels_of(const clang::FunctionDecl& function);

}  // namespace vprof::instrumenter
