#include "program/targets.h"

#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vprof/instrumenter/program.h"

namespace vprof::instrumenter {
namespace {

using ByText = std::unordered_map<std::string, std::vector<const Function*>>;

/// Ends the type of a function without declared parameters. A pointer of such a type may point to
/// any function with the same return type, and any pointer with that return type may point to such
/// a function (C11, 6.7.6.3, paragraph 15).
constexpr const char* kAnyParameters = " (?)";

std::string return_part(const std::string& type) {
  // The parameter list is the last parenthesised group on the outermost level.
  int depth = 0;
  for (size_t i = type.size(); i-- > 0;) {
    if (type[i] == ')') {
      ++depth;
    }
    if (type[i] == '(' && --depth == 0) {
      return type.substr(0, i == 0 ? 0 : i - 1);
    }
  }
  return type;
}

bool has_any_parameters(const std::string& type) {
  const std::string any = kAnyParameters;
  return type.size() >= any.size() && type.compare(type.size() - any.size(), any.size(), any) == 0;
}

/// Functions with a definition whose address is taken, by type and by return type.
struct Addressed {
  ByText by_type;
  ByText by_return;
};

Addressed addressed_functions(const Program& program) {
  std::set<std::string> taken;
  for (const Unit& unit : program.units) {
    taken.insert(unit.address_taken.begin(), unit.address_taken.end());
  }
  Addressed result;
  for (const Function& f : program.functions) {
    if (f.file.empty() || f.type.empty() || taken.count(f.usr) == 0) {
      continue;
    }
    result.by_type[f.type].push_back(&f);
    result.by_return[return_part(f.type)].push_back(&f);
  }
  return result;
}

void add_compatible(const Addressed& addressed, const std::string& type,
                    std::set<std::string>& targets) {
  if (type.empty()) {
    return;
  }
  const auto add = [&](const ByText& functions, const std::string& text, bool undeclared_only) {
    const auto it = functions.find(text);
    if (it == functions.end()) {
      return;
    }
    for (const Function* f : it->second) {
      if (!undeclared_only || has_any_parameters(f->type)) {
        targets.insert(f->key);
      }
    }
  };
  const bool any = has_any_parameters(type);
  if (!any) {
    add(addressed.by_type, type, false);
  }
  add(addressed.by_return, return_part(type), !any);
}

void add_overriders(const std::string& usr, const ByText& overriders,
                    std::set<std::string>& targets) {
  // Terminates because a known key is not followed again.
  std::vector<std::string> open{usr};
  while (!open.empty()) {
    const auto it = overriders.find(open.back());
    open.pop_back();
    if (it == overriders.end()) {
      continue;
    }
    for (const Function* f : it->second) {
      if (targets.insert(f->key).second && !f->usr.empty()) {
        open.push_back(f->usr);
      }
    }
  }
}

/// Keys of the functions that each macro with several calls calls.
std::map<std::string, std::set<std::string>> called_by_macros(const Program& program) {
  std::map<std::string, std::set<std::string>> result;
  for (const Function& f : program.functions) {
    std::map<std::pair<std::string, uint32_t>, std::set<std::string>> expansions;
    for (const Call& call : f.calls) {
      if (call.macro.empty() || call.form == Form::kRefused || !worth_measuring(program, call)) {
        continue;
      }
      expansions[{call.macro, call.begin}].insert(call.callee_key);
    }
    for (const auto& [expansion, keys] : expansions) {
      if (keys.size() > 1) {
        result[expansion.first + "@"].insert(keys.begin(), keys.end());
      }
    }
  }
  return result;
}

bool is_defined(const Program& program, const std::string& key) {
  const Function* f = program.by_key(key);
  return f != nullptr && f->in_tree;
}

}  // namespace

void compute_targets(Program& program) {
  const Addressed addressed = addressed_functions(program);
  ByText overriders;
  std::map<std::string, std::set<std::string>> types;  // key of a `(*pointer)` → its types
  for (const Function& f : program.functions) {
    for (const std::string& usr : f.overrides) {
      overriders[usr].push_back(&f);
    }
    for (const Call& call : f.calls) {
      if (call.kind == CallKind::kIndirect) {
        types[call.callee_key].insert(call.type);
      }
    }
  }
  const std::map<std::string, std::set<std::string>> macros = called_by_macros(program);
  for (Function& f : program.functions) {
    std::set<std::string> targets;
    if (!f.usr.empty()) {
      add_overriders(f.usr, overriders, targets);
    }
    if (const auto pointer = types.find(f.key); pointer != types.end()) {
      for (const std::string& type : pointer->second) {
        add_compatible(addressed, type, targets);
      }
    }
    if (const auto macro = macros.find(f.key); macro != macros.end()) {
      for (const std::string& key : macro->second) {
        if (is_defined(program, key)) {
          targets.insert(key);
        }
      }
    }
    targets.erase(f.key);
    f.targets.assign(targets.begin(), targets.end());
  }
}

}  // namespace vprof::instrumenter
