// Whether a second copy of a function may stand beside it.
#pragma once

#include <clang/AST/Decl.h>

namespace vprof::instrumenter {

/// Whether a copy of the definition, under another name, would mean something else or would not
/// compile: a static local variable, which is then there twice, a label whose address is taken, an
/// assembler statement, an attribute such as `constructor`, ...
bool is_one_of_a_kind(const clang::FunctionDecl& function);

}  // namespace vprof::instrumenter
