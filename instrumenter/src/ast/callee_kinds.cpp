#include "ast/callee_kinds.h"

#include <clang/Basic/Builtins.h>

#include <algorithm>
#include <set>

namespace vprof::instrumenter {

bool needs_callers_frame(const clang::FunctionDecl& callee) {
  if (callee.hasAttr<clang::ReturnsTwiceAttr>()) {
    return true;
  }
  switch (callee.getBuiltinID()) {
    case clang::Builtin::BI__builtin_alloca:
    case clang::Builtin::BI__builtin_alloca_uninitialized:
    case clang::Builtin::BI__builtin_alloca_with_align:
    case clang::Builtin::BI__builtin_frame_address:
    case clang::Builtin::BI__builtin_return_address:
    case clang::Builtin::BI__builtin_setjmp:
    case clang::Builtin::BI__builtin_va_start:
    case clang::Builtin::BI__builtin_stdarg_start:
      return true;
    default:
      break;
  }
  static const std::set<llvm::StringRef> names{"alloca",      "setjmp",  "_setjmp", "sigsetjmp",
                                               "__sigsetjmp", "savectx", "vfork",   "getcontext"};
  return callee.getIdentifier() != nullptr && names.count(callee.getName()) != 0;
}

bool is_compiler_builtin(const clang::FunctionDecl& callee) {
  const unsigned builtin = callee.getBuiltinID();
  return builtin != 0 && !callee.getASTContext().BuiltinInfo.isPredefinedLibFunction(builtin);
}

bool is_cheap_library_call(const clang::CallExpr& call, clang::ASTContext& context) {
  const clang::FunctionDecl* callee = call.getDirectCallee();
  if (callee == nullptr || callee->getBuiltinID() == 0 || callee->getIdentifier() == nullptr) {
    return false;
  }
  static const std::set<llvm::StringRef> always{
      "abs",        "labs",        "llabs",   "fabs",    "floor",   "ceil",    "sqrt",
      "isdigit",    "isalpha",     "isalnum", "isspace", "isupper", "islower", "isxdigit",
      "ispunct",    "isprint",     "iscntrl", "tolower", "toupper", "strcmp",  "strncmp",
      "strcasecmp", "strncasecmp", "strlen",  "strchr",  "strrchr", "memcmp",  "memchr"};
  static const std::set<llvm::StringRef> sized{"memcpy", "memset", "memmove",
                                               "bzero",  "bcopy",  "mempcpy"};
  const llvm::StringRef name = callee->getName();
  if (always.count(name) != 0) {
    return true;
  }
  if (sized.count(name) == 0) {
    return false;
  }
  constexpr int64_t kCheapBytes = 1024;
  const clang::Expr* size = call.getArg(call.getNumArgs() - 1);
  clang::Expr::EvalResult value;
  return !size->isValueDependent() && size->EvaluateAsInt(value, context) &&
         value.Val.getInt() <= kCheapBytes;
}

bool never_returns(const clang::FunctionDecl& callee) {
  return callee.isNoReturn() || callee.hasAttr<clang::AnalyzerNoReturnAttr>();
}

}  // namespace vprof::instrumenter
