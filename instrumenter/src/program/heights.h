#pragma once

namespace vprof::instrumenter {

class Program;

/// Sets Function::height: the longest chain of direct and virtual calls below each function. The
/// functions of one strongly connected component count as one step. Calls of functions that never
/// return are error paths and do not count. A function without a definition in the program has
/// height 0.
void compute_heights(Program& program);

}  // namespace vprof::instrumenter
