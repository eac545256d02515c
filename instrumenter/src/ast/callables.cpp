#include "ast/callables.h"

#include <clang/AST/DeclTemplate.h>
#include <clang/AST/ExprCXX.h>
#include <clang/Basic/SourceManager.h>

#include <algorithm>
#include <array>

#include "ast/decl_names.h"

namespace vprof::instrumenter {
namespace {

using clang::dyn_cast;
using clang::isa;

using Callables = std::vector<const clang::FunctionDecl*>;

/// Chains of conversions and of calls like std::bind(std::ref(f)) are not deeper than this.
constexpr int kMostLayers = 8;

template <size_t kCount>
bool is_one_of(llvm::StringRef name, const std::array<llvm::StringRef, kCount>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Whether calling its result calls its first argument, or its argument is its result.
bool forwards_callable(const clang::FunctionDecl& callee) {
  static constexpr auto kNames = std::to_array<llvm::StringRef>(
      {"bind", "bind_front", "bind_back", "mem_fn", "ref", "cref", "move", "forward", "not_fn",
       "bind_executor", "bind_allocator", "BindOnce", "BindRepeating", "bindLater"});
  return callee.getIdentifier() != nullptr && is_one_of(callee.getName(), kNames);
}

/// The call operators of a class, those that it inherits included.
void add_call_operators(const clang::CXXRecordDecl& record, Callables& out, int layers) {
  if (!record.hasDefinition() || layers > kMostLayers) {
    return;
  }
  const clang::DeclarationName name =
      record.getASTContext().DeclarationNames.getCXXOperatorName(clang::OO_Call);
  for (const clang::NamedDecl* member : record.lookup(name)) {
    const auto* as_template = dyn_cast<clang::FunctionTemplateDecl>(member);
    const auto* method = dyn_cast<clang::CXXMethodDecl>(
        as_template == nullptr ? member : as_template->getTemplatedDecl());
    if (method != nullptr) {
      out.push_back(method);
    }
  }
  if (!out.empty()) {
    return;
  }
  for (const clang::CXXBaseSpecifier& base : record.getDefinition()->bases()) {
    if (const clang::CXXRecordDecl* of = base.getType()->getAsCXXRecordDecl()) {
      add_call_operators(*of, out, layers + 1);
    }
  }
}

void add_callables(const clang::Expr& expr, Callables& out, int layers) {
  if (layers > kMostLayers) {
    return;
  }
  if (const clang::FunctionDecl* named = named_function(expr)) {
    out.push_back(named);
    return;
  }
  const clang::Expr* value = expr.IgnoreUnlessSpelledInSource();
  if (const auto* call = dyn_cast<clang::CallExpr>(value)) {
    const clang::FunctionDecl* callee = call->getDirectCallee();
    if (callee != nullptr && forwards_callable(*callee)) {
      for (const clang::Expr* argument : call->arguments()) {
        add_callables(*argument, out, layers + 1);
      }
      return;
    }
  }
  const clang::CXXRecordDecl* record = value->getType().getNonReferenceType()->getAsCXXRecordDecl();
  if (record == nullptr) {
    return;
  }
  if (const auto* construction = dyn_cast<clang::CXXConstructExpr>(value);
      construction != nullptr && !record->isLambda() &&
      record->getASTContext().getSourceManager().isInSystemHeader(record->getLocation())) {
    // A std::function made on the way.
    for (const clang::Expr* argument : construction->arguments()) {
      add_callables(*argument, out, layers + 1);
    }
    return;
  }
  add_call_operators(*record, out, layers);
}

/// Whether an argument of the template is a class of threads.
bool holds_threads(llvm::ArrayRef<clang::TemplateArgument> arguments) {
  static constexpr auto kThreads =
      std::to_array<llvm::StringRef>({"std::thread", "std::jthread", "boost::thread"});
  return std::any_of(arguments.begin(), arguments.end(), [](const clang::TemplateArgument& one) {
    if (one.getKind() != clang::TemplateArgument::Type) {
      return false;
    }
    const clang::CXXRecordDecl* record = one.getAsType()->getAsCXXRecordDecl();
    return record != nullptr && is_one_of(plain_name(*record), kThreads);
  });
}

/// `std::vector<std::thread>::emplace_back`, `std::make_unique<std::thread>`.
bool makes_thread(const clang::FunctionDecl& receiver) {
  if (const clang::TemplateArgumentList* own = receiver.getTemplateSpecializationArgs();
      own != nullptr && holds_threads(own->asArray())) {
    return true;
  }
  const auto* around = dyn_cast<clang::ClassTemplateSpecializationDecl>(receiver.getDeclContext());
  return around != nullptr && holds_threads(around->getTemplateArgs().asArray());
}

bool starts_thread(llvm::StringRef name) {
  static constexpr auto kNames = std::to_array<llvm::StringRef>(
      {"pthread_create", "thrd_create", "std::thread::thread", "std::jthread::jthread", "clone",
       "boost::thread::thread", "QThread::create", "g_thread_new"});
  return is_one_of(name, kNames);
}

/// Executors, pools and event loops: by name, as their libraries and most programs call them.
bool takes_task(llvm::StringRef name) {
  static constexpr auto kExact = std::to_array<llvm::StringRef>(
      {"std::async", "QtConcurrent::run", "QtConcurrent::task", "QThreadPool::start",
       "QThreadPool::tryStart", "QMetaObject::invokeMethod"});
  static constexpr auto kOfExecutors = std::to_array<llvm::StringRef>({"post",
                                                                       "dispatch",
                                                                       "defer",
                                                                       "execute",
                                                                       "submit",
                                                                       "enqueue",
                                                                       "schedule",
                                                                       "Schedule",
                                                                       "add",
                                                                       "addWithPriority",
                                                                       "run",
                                                                       "run_and_wait",
                                                                       "spawn",
                                                                       "co_spawn",
                                                                       "async",
                                                                       "push_task",
                                                                       "submit_task",
                                                                       "detach_task",
                                                                       "addTask",
                                                                       "AddTask",
                                                                       "PostTask",
                                                                       "StartThread",
                                                                       "parallel_for",
                                                                       "parallel_for_each",
                                                                       "parallel_invoke",
                                                                       "parallel_reduce",
                                                                       "parallel_scan",
                                                                       "parallel_pipeline"});
  if (is_one_of(name, kExact)) {
    return true;
  }
  const auto [around, last] = name.rsplit("::");
  if (!is_one_of(last, kOfExecutors)) {
    return false;
  }
  const std::string lower = around.lower();
  static constexpr auto kExecutors = std::to_array<llvm::StringRef>(
      {"asio", "tbb", "folly", "executor", "pool", "strand", "scheduler", "task", "worker",
       "context", "arena", "loop", "queue", "dispatcher", "env"});
  return std::any_of(kExecutors.begin(), kExecutors.end(),
                     [&](llvm::StringRef word) { return llvm::StringRef(lower).contains(word); });
}

}  // namespace

std::vector<const clang::FunctionDecl*> callables_of(const clang::Expr& expr) {
  Callables result;
  add_callables(expr, result, 0);
  return result;
}

clang::QualType pointed_function(clang::QualType pointer) {
  if (pointer.isNull()) {
    return {};
  }
  const clang::QualType type = pointer.getNonReferenceType();
  clang::QualType function;
  if (const auto* member = type->getAs<clang::MemberPointerType>()) {
    function = member->getPointeeType();
  } else if (type->isPointerType()) {
    function = type->getPointeeType();
  }
  return !function.isNull() && function->isFunctionType() ? function : clang::QualType();
}

CallKind kind_of_passing(const clang::FunctionDecl* receiver) {
  if (receiver == nullptr) {
    return CallKind::kCallback;
  }
  const std::string name = plain_name(*receiver);
  if (starts_thread(name) || makes_thread(*receiver)) {
    return CallKind::kSpawn;
  }
  return takes_task(name) ? CallKind::kTask : CallKind::kCallback;
}

}  // namespace vprof::instrumenter
