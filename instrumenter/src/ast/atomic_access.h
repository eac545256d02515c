// Atomic operations, as builtins, functions and methods.
#pragma once

#include <clang/AST/DeclCXX.h>
#include <clang/AST/Expr.h>

#include <cstdint>

namespace vprof::instrumenter {

/// What an atomic operation does to its object.
enum class Access : uint8_t { kNone, kRead, kCompareAndSwap, kYield, kFence };

/// kNone: it writes, or is not atomic.
Access access_of(const clang::AtomicExpr& expr);
Access access_of(const clang::FunctionDecl& callee);

/// The classes of the standard library and those named after them.
bool is_atomic_class(const clang::CXXRecordDecl& record);

}  // namespace vprof::instrumenter
