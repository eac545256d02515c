#pragma once

namespace vprof::instrumenter {

class Program;

/// Sets Function::targets of virtual methods, of `(*pointer)` functions, and of macros with several
/// calls. The targets of a pointer are the functions of a compatible type whose address is taken
/// anywhere in the program. This misses functions that are called only through a pointer of another
/// type (a cast), and includes functions that never get into that particular pointer.
void compute_targets(Program& program);

}  // namespace vprof::instrumenter
