#include "program/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

namespace vprof::instrumenter {
namespace {

auto place_of(const Call& call) {
  return std::tie(call.file, call.begin, call.end, call.callee_name);
}

bool same_wrapping(const Call& a, const Call& b) {
  return a.end == b.end && a.form == b.form && a.full_expr == b.full_expr;
}

std::string conflict(const Call& call) {
  return fmt::format("{}:{}:{}: {}", call.file, call.line, call.column, call.callee_name);
}

/// Adds another unit's view of a known function.
void merge_function(Function& known, Function&& other, std::vector<std::string>& conflicts) {
  known.trivial = known.trivial && other.trivial;
  known.size = std::max(known.size, other.size);
  known.loops = known.loops || other.loops;
  known.unique = known.unique || other.unique;
  known.endless = known.endless || other.endless;
  if (known.refused == Reason::kNone) {
    known.refused = other.refused;
  }
  const bool languages_differ = known.is_cxx != other.is_cxx;
  std::vector<Call> added;
  for (Call& call : other.calls) {
    bool found = false;
    for (Call& mine : known.calls) {
      if (mine.file != call.file || mine.begin != call.begin ||
          mine.callee_name != call.callee_name) {
        continue;
      }
      if (mine.end == call.end || same_wrapping(mine, call)) {
        found = true;
      }
      if (same_wrapping(mine, call)) {
        continue;
      }
      if (mine.end == call.end && languages_differ) {
        // scope.h defines the C++ forms in C as well, but not the C forms in C++.
        if (other.is_cxx) {
          mine = call;
        }
        continue;
      }
      if (mine.form != Form::kRefused) {
        conflicts.push_back(conflict(call));
      }
      mine.form = Form::kRefused;
      mine.reason = Reason::kUnitsDisagree;
      call.form = Form::kRefused;
      call.reason = mine.reason;
    }
    if (!found) {
      added.push_back(std::move(call));
    }
  }
  known.is_cxx = known.is_cxx || other.is_cxx;
  std::vector<uint32_t> bare;
  std::ranges::set_union(known.bare_macros, other.bare_macros, std::back_inserter(bare));
  known.bare_macros = std::move(bare);
  std::move(added.begin(), added.end(), std::back_inserter(known.calls));
}

/// Refuses calls where another unit reads a macro that makes no call, such as NULL. A statement may
/// be wrapped whatever it is.
void refuse_bare_macros(Function& function, std::vector<std::string>& conflicts) {
  for (Call& call : function.calls) {
    if (call.form != Form::kRefused && call.form != Form::kStatement &&
        call.file == function.file &&
        std::ranges::binary_search(function.bare_macros, call.begin)) {
      conflicts.push_back(conflict(call));
      call.form = Form::kRefused;
      call.reason = Reason::kUnitsDisagree;
    }
  }
  function.bare_macros.clear();  // nothing else needs them
}

size_t common_prefix(const std::string& a, const std::string& b) {
  return static_cast<size_t>(
      std::mismatch(a.begin(),
                    a.begin() + static_cast<std::ptrdiff_t>(std::min(a.size(), b.size())),
                    b.begin())
          .first -
      a.begin());
}

/// Gives calls of functions that another unit defines the key of that definition. Where several
/// programs of the tree define a name, the definition in the nearest folder is meant.
void resolve_across_units(Program& program) {
  std::unordered_map<std::string, std::vector<uint32_t>> by_usr;
  for (uint32_t i = 0; i < program.functions.size(); ++i) {
    if (!program.functions[i].usr.empty()) {
      by_usr[program.functions[i].usr].push_back(i);
    }
  }
  /// Whether the function has a definition.
  const auto resolve = [&](std::string& key, const std::string& name, const std::string& usr,
                           const std::string& from) {
    if (key != name + "@") {
      return true;
    }
    const auto it = by_usr.find(usr);
    if (usr.empty() || it == by_usr.end()) {
      return false;
    }
    const auto nearest =
        std::max_element(it->second.begin(), it->second.end(), [&](uint32_t a, uint32_t b) {
          return common_prefix(program.functions[a].file, from) <
                 common_prefix(program.functions[b].file, from);
        });
    key = program.functions[*nearest].key;
    return true;
  };
  std::map<std::string, std::string> undefined;  // name → USR
  for (Function& f : program.functions) {
    for (Call& call : f.calls) {
      if (!resolve(call.callee_key, call.callee_name, call.callee_usr, f.file)) {
        undefined.emplace(call.callee_name, call.callee_usr);
      }
      if (!call.receiver_key.empty()) {
        resolve(call.receiver_key, call.receiver_name, call.receiver_usr, f.file);
      }
      // A macro with several calls that is measured as a whole is a function of its own.
      if (!call.macro.empty()) {
        undefined.emplace(call.macro, "");
      }
    }
  }
  for (const auto& [name, usr] : undefined) {
    Function f;
    f.name = name;
    f.key = name + "@";
    f.usr = usr;
    program.functions.push_back(std::move(f));
  }
}

}  // namespace

Program merge_units(std::vector<std::pair<Unit, std::vector<Function>>> units) {
  std::stable_sort(units.begin(), units.end(),
                   [](const auto& a, const auto& b) { return a.first.file < b.first.file; });
  Program program;
  std::unordered_map<std::string, uint32_t> by_key;
  for (auto& [unit, functions] : units) {
    for (Function& f : functions) {
      const auto [it, is_new] = by_key.emplace(f.key, program.functions.size());
      if (is_new) {
        program.functions.push_back(std::move(f));
      } else {
        merge_function(program.functions[it->second], std::move(f), program.conflicts);
      }
    }
    program.units.push_back(std::move(unit));
  }
  std::sort(program.functions.begin(), program.functions.end(),
            [](const Function& a, const Function& b) { return a.key < b.key; });
  for (Function& f : program.functions) {
    refuse_bare_macros(f, program.conflicts);
    std::sort(f.calls.begin(), f.calls.end(),
              [](const Call& a, const Call& b) { return place_of(a) < place_of(b); });
  }
  std::sort(program.conflicts.begin(), program.conflicts.end());
  program.conflicts.erase(std::unique(program.conflicts.begin(), program.conflicts.end()),
                          program.conflicts.end());
  resolve_across_units(program);
  program.finish();
  return program;
}

}  // namespace vprof::instrumenter
