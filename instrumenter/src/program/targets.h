#pragma once

#include <string>

namespace vprof::instrumenter {

class Program;

/// Sets Function::targets of everything whose call may lead to several functions:
///  - virtual methods: their overriders;
///  - `(*pointer)`: the functions of a compatible type whose address is taken anywhere in the
///    program. This misses functions that are called only through a pointer of another type (a
///    cast), and includes functions that never get into that particular pointer;
///  - macros with several calls: what they call;
///  - library functions: the functions passed to them (qsort, std::for_each, pthread_once), unless
///    they start a thread with them or only keep them;
///  - call operators of library classes (std::function): the functions that objects of their class
///    are made from or assigned (if there are none, of any class), and those that are kept in
///    containers or by functions of the program that take them.
void compute_targets(Program& program);

/// Whether a pointer to functions of type `pointed_to` may point to a function of this type.
bool may_point_to(const std::string& pointed_to, const std::string& type);

}  // namespace vprof::instrumenter
