#pragma once

namespace vprof::instrumenter {

class Program;

/// Sets Function::targets of virtual methods, of `(*pointer)` functions (DESIGN §6, "Index"), and
/// of macros that hold several calls. For a pointer these are the functions of a compatible type
/// whose address is taken anywhere in the program; a function that is only ever called through a
/// pointer of another type (a cast) is missing, and functions that never get into this very pointer
/// are among them.
void compute_targets(Program& program);

}  // namespace vprof::instrumenter
