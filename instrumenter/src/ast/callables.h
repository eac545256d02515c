// What may be called later: functions and function objects that are passed on, and what the
// functions do to which they are passed.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/DeclCXX.h>

#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {

/// The functions that calling the value of `expr` runs: the function it names (`f`, `&f`,
/// `&Class::method`), the call operator of a lambda or another object, and what `std::bind`,
/// `std::ref`, `std::move` or a conversion to `std::function` is given. Several for an overloaded
/// call operator; none if the expression does not say.
std::vector<const clang::FunctionDecl*> callables_of(const clang::Expr& expr);

/// The type of the functions that a pointer to a function or to a method points to; null for
/// anything else.
clang::QualType pointed_function(clang::QualType pointer);

/// What happens to a function that is passed to `receiver`: kSpawn if a new thread starts with it,
/// kTask if an executor or a pool runs it, kCallback otherwise. `receiver` may be null: unknown.
CallKind kind_of_passing(const clang::FunctionDecl* receiver);

/// The same for a call or construction in a template that only its instantiations resolve, as far
/// as its text tells: `threads.emplace_back([this] { … })` in a class template.
CallKind kind_of_passing_to(const clang::Expr& callee);
CallKind kind_of_passing_to_new(clang::QualType made);

}  // namespace vprof::instrumenter
