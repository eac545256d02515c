#include "ast/atomic_access.h"

#include <algorithm>
#include <array>

#include "ast/decl_names.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

Access access_by_name(llvm::StringRef name) {
  static constexpr auto kReads = std::to_array<llvm::StringRef>(
      {"load", "test", "test_and_set", "exchange", "load_acquire", "atomic_load",
       "atomic_load_explicit", "atomic_flag_test_and_set", "atomic_flag_test_and_set_explicit",
       "atomic_exchange", "atomic_exchange_explicit", "atomic_flag_test"});
  static constexpr auto kYields = std::to_array<llvm::StringRef>(
      {"sched_yield", "thrd_yield", "pthread_yield", "_mm_pause", "__builtin_ia32_pause",
       "__builtin_arm_yield", "__builtin_arm_isb", "__yield"});
  static constexpr auto kFences = std::to_array<llvm::StringRef>(
      {"__sync_synchronize", "__atomic_thread_fence", "__c11_atomic_thread_fence",
       "atomic_thread_fence", "atomic_signal_fence", "__builtin_expect", "__atomic_signal_fence"});
  if (std::find(kReads.begin(), kReads.end(), name) != kReads.end() ||
      name.starts_with("__sync_lock_test_and_set") || name == "__atomic_test_and_set") {
    return Access::kRead;
  }
  if (name.contains("compare_exchange") || name.contains("compare_and_swap")) {
    return Access::kCompareAndSwap;
  }
  if (std::find(kYields.begin(), kYields.end(), name) != kYields.end()) {
    return Access::kYield;
  }
  return std::find(kFences.begin(), kFences.end(), name) != kFences.end() ? Access::kFence
                                                                          : Access::kNone;
}

}  // namespace

Access access_of(const clang::AtomicExpr& expr) {
  const llvm::StringRef name = expr.getOp() == clang::AtomicExpr::AO__c11_atomic_load ||
                                       expr.getOp() == clang::AtomicExpr::AO__atomic_load ||
                                       expr.getOp() == clang::AtomicExpr::AO__atomic_load_n
                                   ? "load"
                                   : "";
  if (!name.empty() || expr.getOp() == clang::AtomicExpr::AO__c11_atomic_exchange ||
      expr.getOp() == clang::AtomicExpr::AO__atomic_exchange ||
      expr.getOp() == clang::AtomicExpr::AO__atomic_exchange_n) {
    return Access::kRead;
  }
  return expr.isCmpXChg() ? Access::kCompareAndSwap : Access::kNone;
}

bool is_atomic_class(const clang::CXXRecordDecl& record) {
  return record.getName().contains("atomic");
}

Access access_of(const clang::FunctionDecl& callee) {
  if (const auto* method = dyn_cast<clang::CXXMethodDecl>(&callee)) {
    if (!is_atomic_class(*method->getParent())) {
      return Access::kNone;
    }
    if (isa<clang::CXXConversionDecl>(method)) {
      return Access::kRead;
    }
  }
  if (callee.getIdentifier() == nullptr) {
    return Access::kNone;
  }
  return plain_name(callee) == "std::this_thread::yield" ? Access::kYield
                                                         : access_by_name(callee.getName());
}

}  // namespace vprof::instrumenter
