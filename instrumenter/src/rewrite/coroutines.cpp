#include "rewrite/coroutines.h"

#include <fmt/format.h>

#include <utility>

#include "rewrite/call_sites.h"

namespace vprof::instrumenter {
namespace {

/// An object that more coroutine functions may have made is awaited without knowing which.
constexpr size_t kMostExpected = 32;

const char* word_of(Form form) {
  switch (form) {
    case Form::kValue:
      return "VPROF_AWAIT_VALUE";
    case Form::kVoid:
      return "VPROF_AWAIT_VOID";
    default:
      return "VPROF_AWAIT";
  }
}

}  // namespace

Coroutines::Coroutines(const Program& program, const Plan& plan,
                       const std::set<std::string>& configured)
    : program_(program) {
  std::set<std::pair<std::string, uint32_t>> known;  // places that functions share
  uint32_t count = 0;
  for (const Function& f : program.functions) {
    if (!f.coroutine || !f.in_tree || f.refused != Reason::kNone || f.body == 0 ||
        (is_excluded(plan, f.file, f.name) && !configured.contains(f.key))) {
      continue;
    }
    numbers_[f.key] = ++count;
    numbered_.push_back(&f);
    returning_[f.returns].insert(count);
    for (const Suspension& suspension : f.suspensions) {
      if (known.insert({suspension.file, suspension.begin}).second) {
        suspensions_.push_back({static_cast<uint32_t>(suspensions_.size()), &f, &suspension});
      }
    }
  }
}

uint32_t Coroutines::number_of(const Function& f) const {
  const auto found = numbers_.find(f.key);
  return found == numbers_.end() ? 0 : found->second;
}

/// The coroutines that may begin because of a co_await.
Coroutines::Expected Coroutines::expected_by(const NumberedSuspension& numbered) const {
  const Suspension& s = *numbered.suspension;
  Expected awaited{true, {}};
  Expected handed;
  if (s.kind == AwaitKind::kObject) {
    const auto made = returning_.find(s.type);
    if (!s.type.empty() && made != returning_.end() && made->second.size() <= kMostExpected) {
      awaited.functions.assign(made->second.begin(), made->second.end());
    }
  }
  for (const Call& call : numbered.function->calls) {
    if (call.file != s.file || call.begin < s.operand || call.begin >= s.end) {
      continue;
    }
    const Function* callee = program_.by_key(call.callee_key);
    if (callee == nullptr) {
      continue;
    }
    std::vector<const Function*> reached{callee};
    for (const std::string& target : callee->targets) {
      reached.push_back(program_.by_key(target));
    }
    const bool is_operand = s.kind == AwaitKind::kCall && call.callee_name == s.name;
    for (const Function* one : reached) {
      if (const uint32_t number = one == nullptr ? 0 : number_of(*one)) {
        (is_operand ? awaited : handed).functions.push_back(number);
      }
    }
  }
  return awaited.functions.empty() ? handed : awaited;
}

std::vector<std::string> Coroutines::awaited_by(const NumberedSuspension& numbered) const {
  std::set<std::string> keys;
  for (const uint32_t number : expected_by(numbered).functions) {
    keys.insert(numbered_[number - 1]->key);
  }
  return {keys.begin(), keys.end()};
}

Edit Coroutines::edit_of(const NumberedSuspension& numbered) const {
  const Suspension& s = *numbered.suspension;
  const Expected expected = expected_by(numbered);
  std::string list;
  for (const uint32_t number : expected.functions) {
    list += fmt::format(", {}", number);
  }
  const char* const what = s.kind == AwaitKind::kYield ? "YIELD"
                           : expected.by_call          ? "CALL"
                                                       : "HAND";
  return {s.begin, s.end, fmt::format("{}({}, {}{}) ", word_of(s.form), numbered.index, what, list),
          fmt::format(" {}_END", word_of(s.form))};
}

}  // namespace vprof::instrumenter
