#include "program/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

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

/// How units read one function; each reading once.
using Readings = std::vector<const Function*>;

bool same_place(const Call& a, const Call& b) { return place_of(a) == place_of(b); }

/// Whether some unit reads both calls, which begin at the same place, as in `a | b | c`: then they
/// are no different readings of one call.
bool are_read_together(const Call& a, const Call& b, const Readings& readings) {
  const auto reads = [](const Function& reading, const Call& wanted) {
    return std::ranges::any_of(reading.calls,
                               [&](const Call& call) { return same_place(call, wanted); });
  };
  return std::ranges::any_of(
      readings, [&](const Function* reading) { return reads(*reading, a) && reads(*reading, b); });
}

/// Adds another reading of a known function.
void merge_function(Function& known, Function other, const Readings& all,
                    std::vector<std::string>& conflicts) {
  known.trivial = known.trivial && other.trivial;
  known.size = std::max(known.size, other.size);
  known.loops = known.loops || other.loops;
  known.unique = known.unique || other.unique;
  known.labels.insert(other.labels.begin(), other.labels.end());
  known.endless = known.endless || other.endless;
  known.is_inline = known.is_inline || other.is_inline;
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
      const bool same = same_place(mine, call);
      found = found || same;
      if (same ? same_wrapping(mine, call) : are_read_together(mine, call, all)) {
        continue;
      }
      if (same && languages_differ) {
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

Function merged(const Readings& readings, std::vector<std::string>& conflicts) {
  Function known = *readings.front();
  for (size_t i = 1; i < readings.size(); ++i) {
    merge_function(known, *readings[i], readings, conflicts);
  }
  return known;
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

Program merge_units(std::vector<UnitView> units) {
  std::stable_sort(units.begin(), units.end(),
                   [](const UnitView& a, const UnitView& b) { return a.unit.file < b.unit.file; });
  Program program;
  std::unordered_map<std::string, size_t> by_key;
  std::vector<Readings> readings;
  std::unordered_set<const Function*> seen;
  for (const UnitView& unit : units) {
    for (const std::shared_ptr<const Function>& f : unit.functions) {
      if (seen.insert(f.get()).second) {
        const auto [it, is_new] = by_key.emplace(f->key, readings.size());
        if (is_new) {
          readings.emplace_back();
        }
        // Two functions of one name on one line: the first one stands for both.
        const uint32_t body = is_new ? 0 : readings[it->second].front()->body;
        if (body == 0 || f->body == 0 || f->body == body) {
          readings[it->second].push_back(f.get());
        } else {
          program.conflicts.push_back(
              fmt::format("{}:{}:{}: {}", f->file, f->line, f->column, f->name));
        }
      }
    }
    program.units.push_back(unit.unit);
  }
  for (const Readings& of_function : readings) {
    program.functions.push_back(merged(of_function, program.conflicts));
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
