#include "vprof/instrumenter/program.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <set>

#include "program/heights.h"
#include "program/targets.h"
#include "vprof/support/text.h"

namespace vprof::instrumenter {

std::string content_hash(std::string_view text) {
  return fmt::format("{:016x}", XXH3_64bits(text.data(), text.size()));
}

void Program::finish() {
  std::sort(functions.begin(), functions.end(),
            [](const Function& a, const Function& b) { return a.key < b.key; });
  by_key_.clear();
  by_name_.clear();
  callers_.clear();
  for (uint32_t i = 0; i < functions.size(); ++i) {
    const Function& f = functions[i];
    by_key_[f.key] = i;
    by_name_[f.name].push_back(i);
    const std::string_view last = last_part(f.name);
    if (last != f.name) {
      by_name_[std::string(last)].push_back(i);
    }
  }
  for (uint32_t i = 0; i < functions.size(); ++i) {
    for (const Call& call : functions[i].calls) {
      std::vector<uint32_t>& callers = callers_[call.callee_key];
      if (callers.empty() || callers.back() != i) {
        callers.push_back(i);
      }
    }
  }
  own_functions_ = static_cast<size_t>(
      std::ranges::count_if(functions, [](const Function& f) { return f.in_tree; }));
  compute_targets(*this);
  targets_.clear();
  for (const Function& f : functions) {
    targets_.insert(f.targets.begin(), f.targets.end());
  }
  compute_heights(*this);
}

const Function* Program::by_key(std::string_view key) const {
  const auto it = by_key_.find(key);
  return it == by_key_.end() ? nullptr : &functions[it->second];
}

std::vector<const Function*> Program::find(std::string_view name) const {
  if (const Function* f = by_key(name)) {
    return {f};
  }
  const size_t at = name.find('@');
  const auto it = by_name_.find(std::string(name.substr(0, at)));
  if (it == by_name_.end()) {
    return {};
  }
  const std::string_view place = at == std::string_view::npos ? "" : name.substr(at + 1);
  std::vector<const Function*> defined;
  std::vector<const Function*> declared;
  for (const uint32_t i : it->second) {
    const Function& f = functions[i];
    const std::string full_place = fmt::format("{}:{}", f.file, f.line);
    if (!place.empty() && f.file != place && full_place != place) {
      continue;
    }
    (f.file.empty() ? declared : defined).push_back(&f);
  }
  return defined.empty() ? declared : defined;
}

std::vector<std::string> Program::suggestions(std::string_view name, size_t count) const {
  const std::string_view wanted = name.substr(0, name.find('@'));
  const size_t limit = std::max<size_t>(3, wanted.size() / 3 + 1);
  std::set<std::pair<size_t, std::string>> best;
  for (const auto& [known, ids] : by_name_) {
    const bool defined =
        std::any_of(ids.begin(), ids.end(), [&](uint32_t i) { return !functions[i].file.empty(); });
    if (!defined) {
      continue;
    }
    size_t distance = edit_distance(wanted, known, limit);
    // A name that contains the wanted one is near even if it is much longer.
    if (distance >= limit && wanted.size() >= 4 && known.find(wanted) != std::string::npos) {
      distance = limit;
    } else if (distance >= limit) {
      continue;
    }
    best.emplace(distance, known);
    if (best.size() > count) {
      best.erase(std::prev(best.end()));
    }
  }
  std::vector<std::string> names;
  names.reserve(best.size());
  for (const auto& [distance, known] : best) {
    names.push_back(known);
  }
  return names;
}

size_t Program::caller_count(const Function& f) const {
  const auto it = callers_.find(f.key);
  return it == callers_.end() ? 0 : it->second.size();
}

std::vector<const Function*> Program::callers(const Function& f) const {
  std::vector<const Function*> result;
  const auto it = callers_.find(f.key);
  if (it == callers_.end()) {
    return result;
  }
  result.reserve(it->second.size());
  for (const uint32_t i : it->second) {
    result.push_back(&functions[i]);
  }
  return result;
}

bool is_call(const Call& call) {
  return call.kind != CallKind::kSpawn && call.kind != CallKind::kCallback &&
         call.kind != CallKind::kTask && call.kind != CallKind::kInstance;
}

std::vector<const Function*> expanded_with(const Program& program, const Function& f) {
  std::vector<const Function*> expanded = {&f};
  if (f.targets.size() <= kExpandedTargets) {
    for (const std::string& key : f.targets) {
      expanded.push_back(program.by_key(key));
    }
  }
  return expanded;
}

namespace {

/// Whether a library function of this name calls its object or its first argument.
bool calls_what_it_is_given(const std::string& name) {
  const std::string_view last = last_part(name);
  return last == "operator()" || last == "invoke" || last == "invoke_r" || last == "apply" ||
         last == "visit";
}

bool calls_through_pointer(const Function& f) {
  return std::any_of(f.calls.begin(), f.calls.end(),
                     [](const Call& call) { return call.kind == CallKind::kIndirect; });
}

}  // namespace

bool is_wrapper(const Program& program, const Function& f) {
  if (!f.in_tree) {
    return false;
  }
  return calls_through_pointer(f) ||
         std::any_of(f.calls.begin(), f.calls.end(), [&](const Call& call) {
           if (!is_call(call) || !calls_what_it_is_given(call.callee_name)) {
             return false;
           }
           const Function* callee = program.by_key(call.callee_key);
           return callee != nullptr && (callee->file.empty() ? !callee->targets.empty()
                                                             : calls_through_pointer(*callee));
         });
}

namespace {

constexpr uint32_t kSmall = 120;
constexpr uint32_t kTiny = 40;

bool is_at_most(const Function& f, uint32_t nodes) {
  return f.in_tree && !f.coroutine && !f.loops && f.size <= nodes;
}

std::ptrdiff_t calls_worth_measuring(const Program& program, const Function& f) {
  return std::ranges::count_if(f.calls,
                               [&](const Call& call) { return worth_measuring(program, call); });
}

bool is_small_and_shared(const Program& program, const Function& f) {
  constexpr size_t kFewestCallers = 4;
  return is_at_most(f, kSmall) && program.caller_count(f) >= kFewestCallers;
}

/// What is left of it is the callee, which can be measured at its entry. Of the functions behind a
/// pointer, only their own entries say which of them it was.
bool is_forwarder(const Program& program, const Function& f) {
  return is_at_most(f, kTiny) && !program.is_target(f) && calls_worth_measuring(program, f) == 1 &&
         std::ranges::all_of(f.calls, [&](const Call& call) {
           const Function* callee = program.by_key(call.callee_key);
           return !worth_measuring(program, call) ||
                  (callee != nullptr && callee->in_tree && callee->refused == Reason::kNone &&
                   !is_small_and_shared(program, *callee));
         });
}

/// A request of a large program passes more functions than the instruction cache holds. Then each
/// function with a gate costs more than the gate's two instructions.
bool is_small_in_large_program(const Program& program, const Function& f) {
  constexpr size_t kLarge = 10000;
  constexpr uint32_t kSmallInLarge = 500;
  constexpr int kLow = 1;
  return program.own_functions() > kLarge && f.in_tree && !f.coroutine && !f.endless &&
         (f.size <= kSmallInLarge || f.height <= kLow);
}

}  // namespace

bool is_small_helper(const Program& program, const Function& f) {
  return is_forwarder(program, f) || is_small_and_shared(program, f) ||
         is_small_in_large_program(program, f);
}

bool does_little(const Program& program, const Function& f) {
  return is_at_most(f, kSmall) && calls_worth_measuring(program, f) == 0;
}

bool worth_measuring(const Program& program, const Call& call) {
  if (call.noreturn || call.trivial || !is_call(call)) {
    return false;
  }
  const Function* callee = program.by_key(call.callee_key);
  return callee == nullptr || !callee->trivial;
}

std::vector<const Function*> entries_of(const Program& program, const Call& call) {
  constexpr size_t kMostBehindOneCall = 64;
  const auto may_be_entered = [](const Function* f) {
    return f != nullptr && f->in_tree && f->refused == Reason::kNone;
  };
  const auto fits = [&](const Function* f) {
    return call.kind != CallKind::kIndirect || call.type.empty() ||
           may_point_to(call.type, f->type);
  };
  const Function* callee = program.by_key(call.callee_key);
  std::vector<const Function*> behind;
  if (callee != nullptr && call.kind != CallKind::kDirect) {
    for (const std::string& key : callee->targets) {
      const Function* target = program.by_key(key);
      if (may_be_entered(target) && fits(target)) {
        behind.push_back(target);
      }
    }
  }
  if (behind.size() > kMostBehindOneCall) {
    behind.clear();
  }
  if (may_be_entered(callee)) {
    behind.push_back(callee);
  }
  return behind;
}

bool Program::expandable(const Function& f) const {
  if (!f.targets.empty()) {
    return true;
  }
  return f.in_tree && std::any_of(f.calls.begin(), f.calls.end(), [&](const Call& call) {
           const bool in_place = f.refused == Reason::kNone && call.form != Form::kRefused;
           return worth_measuring(*this, call) && (in_place || !entries_of(*this, call).empty());
         });
}

}  // namespace vprof::instrumenter
