// Loops that wait for another thread by spinning.
#pragma once

#include <clang/AST/Decl.h>

#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// The loops in the body of `f` that only read atomic or volatile objects, or give up the
/// processor, until what they read changes. They may count and compute with local variables, and
/// call functions that do no more than that. Not among them: loops over several objects (a list, a
/// table), and updates by compare-and-swap, which wait for nobody.
std::vector<SpinLoop> spin_loops_of(const clang::FunctionDecl& f,
                                    const clang::SourceManager& sources);

}  // namespace vprof::instrumenter
