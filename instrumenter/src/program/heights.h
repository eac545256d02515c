#pragma once

namespace vprof::instrumenter {

class Program;

/// Sets Function::height: the longest chain of calls below each function. Virtual methods, pointers
/// and library functions are looked through: what they may call (Function::targets) is below them.
/// The functions of one strongly connected component count as one step. What may be called through
/// a pointer is approximate, and closes many circles that the program does not have; such calls
/// within a component count for the pointer, not for its callers. Calls of functions that never
/// return are error paths and do not count, nor do threads that a function starts.
void compute_heights(Program& program);

}  // namespace vprof::instrumenter
