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

bool holds_threads(const clang::DeclContext* around) {
  const auto* special = dyn_cast_or_null<clang::ClassTemplateSpecializationDecl>(around);
  return special != nullptr && holds_threads(special->getTemplateArgs().asArray());
}

/// `std::vector<std::thread>::emplace_back`, `std::make_unique<std::thread>`.
bool makes_thread(const clang::FunctionDecl& receiver) {
  const clang::TemplateArgumentList* own = receiver.getTemplateSpecializationArgs();
  return (own != nullptr && holds_threads(own->asArray())) ||
         holds_threads(receiver.getDeclContext());
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

CallKind kind_by_name(const std::string& receiver) {
  if (starts_thread(receiver)) {
    return CallKind::kSpawn;
  }
  return takes_task(receiver) ? CallKind::kTask : CallKind::kCallback;
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
  return makes_thread(*receiver) ? CallKind::kSpawn : kind_by_name(plain_name(*receiver));
}

CallKind kind_of_passing_to(const clang::Expr& callee) {
  const clang::Expr* named = callee.IgnoreParens();
  if (const auto* lookup = dyn_cast<clang::UnresolvedLookupExpr>(named)) {
    for (const clang::TemplateArgumentLoc& one : lookup->template_arguments()) {
      if (holds_threads(one.getArgument())) {
        return CallKind::kSpawn;
      }
    }
    const bool found = lookup->decls_begin() != lookup->decls_end();
    return found ? kind_by_name(plain_name(**lookup->decls_begin())) : CallKind::kCallback;
  }
  clang::QualType object;
  std::string member;
  if (const auto* overloaded = dyn_cast<clang::UnresolvedMemberExpr>(named)) {
    object = overloaded->getBaseType();
    member = overloaded->getMemberName().getAsString();
  } else if (const auto* dependent = dyn_cast<clang::CXXDependentScopeMemberExpr>(named)) {
    object = dependent->getBaseType();
    member = dependent->getMember().getAsString();
  }
  if (!object.isNull() && object->isPointerType()) {
    object = object->getPointeeType();
  }
  const clang::CXXRecordDecl* record = object.isNull() ? nullptr : object->getAsCXXRecordDecl();
  if (record == nullptr) {
    return CallKind::kCallback;
  }
  return holds_threads(record) ? CallKind::kSpawn
                               : kind_by_name(plain_name(*record) + "::" + member);
}

CallKind kind_of_passing_to_new(clang::QualType made) {
  const clang::CXXRecordDecl* record = made.isNull() ? nullptr : made->getAsCXXRecordDecl();
  return record == nullptr ? CallKind::kCallback
                           : kind_by_name(plain_name(*record) + "::" + record->getNameAsString());
}

}  // namespace vprof::instrumenter
