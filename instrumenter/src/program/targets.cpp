#include "program/targets.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vprof/instrumenter/program.h"
#include "vprof/support/text.h"

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

bool has_any_parameters(const std::string& type) { return type.ends_with(kAnyParameters); }

/// Functions with a definition whose address is taken, by return type.
ByText addressed_functions(const Program& program) {
  std::set<std::string> taken;
  for (const Unit& unit : program.units) {
    taken.insert(unit.address_taken.begin(), unit.address_taken.end());
  }
  ByText result;
  for (const Function& f : program.functions) {
    if (!f.file.empty() && !f.type.empty() && taken.count(f.usr) != 0) {
      result[return_part(f.type)].push_back(&f);
    }
  }
  return result;
}

void add_compatible(const ByText& addressed, const std::string& type,
                    std::set<std::string>& targets) {
  const auto it = addressed.find(return_part(type));
  if (it == addressed.end()) {
    return;
  }
  for (const Function* f : it->second) {
    if (may_point_to(type, f->type)) {
      targets.insert(f->key);
    }
  }
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

constexpr std::string_view kCallOperator = "::operator()";

/// `std::function<T>` of `std::function<T>::operator()`.
std::string class_of(const std::string& name) {
  const size_t last = last_part(name).size();
  return last == name.size() ? "" : name.substr(0, name.size() - last - 2);
}

/// Without the class around it and template arguments.
std::string_view plain_part(const std::string& name) {
  const std::string_view last = last_part(name);
  return last.substr(0, last.find('<'));
}

/// Whether the function constructs or assigns an object from what it is given.
bool makes_callable(const std::string& receiver) {
  const std::string_view plain = plain_part(receiver);
  const std::string around = class_of(receiver);
  return plain == "operator=" || (!around.empty() && plain_part(around) == plain);
}

/// Whether the function keeps what it is given for a later call.
bool keeps(const std::string& receiver) {
  static const std::set<std::string_view> names{"operator[]",    "assign",
                                                "emplace",       "emplace_back",
                                                "emplace_front", "push",
                                                "push_back",     "push_front",
                                                "insert",        "insert_or_assign",
                                                "try_emplace",   "make_shared",
                                                "make_unique",   "make_pair",
                                                "make_tuple",    "forward_as_tuple",
                                                "bind",          "bind_front",
                                                "bind_back",     "mem_fn",
                                                "ref",           "not_fn"};
  return names.count(plain_part(receiver)) != 0;
}

/// The functions that are passed on, by what they are passed to.
struct PassedOn {
  /// By key of the library function, which may call them.
  std::unordered_map<std::string, std::set<std::string>> to_library;
  std::unordered_map<std::string, std::set<std::string>> into_class;  ///< by name of the class
  std::set<std::string> into_any_class;
  std::set<std::string> kept;  ///< in containers, or by functions of the program
  /// By key of a `(*parameter)` of templates: what the templates are given.
  std::unordered_map<std::string, std::set<std::string>> to_template;
};

PassedOn passed_on(const Program& program) {
  PassedOn result;
  std::unordered_map<std::string, std::set<std::string>> to_program;  // by key of the function
  for (const Function& f : program.functions) {
    for (const Call& call : f.calls) {
      if (call.kind == CallKind::kInstance) {
        to_program[f.key].insert(call.callee_key);
      }
      if (is_call(call) || call.kind == CallKind::kSpawn || call.kind == CallKind::kInstance) {
        continue;
      }
      const Function* receiver = program.by_key(call.receiver_key);
      if (receiver == nullptr || !receiver->file.empty()) {
        result.kept.insert(call.callee_key);
        to_program[call.receiver_key].insert(call.callee_key);
        continue;
      }
      if (makes_callable(receiver->name)) {
        result.into_class[class_of(receiver->name)].insert(call.callee_key);
        result.into_any_class.insert(call.callee_key);
      } else if (keeps(receiver->name)) {
        result.kept.insert(call.callee_key);
      } else {
        result.to_library[receiver->key].insert(call.callee_key);
      }
    }
  }
  for (const Function& f : program.functions) {
    for (const Call& call : f.calls) {
      // In a template, the type of what is called may depend on its parameters.
      if (call.kind == CallKind::kIndirect && call.type.empty()) {
        const auto given = to_program.find(f.key);
        const auto& passed = given == to_program.end() ? result.kept : given->second;
        result.to_template[call.callee_key].insert(passed.begin(), passed.end());
      }
    }
  }
  return result;
}

/// The functions of the program behind `passed`: virtual methods and pointers are looked through.
void add_passed(const Program& program, const std::set<std::string>& passed,
                std::set<std::string>& targets) {
  for (const std::string& key : passed) {
    const Function* f = program.by_key(key);
    if (f == nullptr) {
      continue;
    }
    if (f->in_tree) {
      targets.insert(key);
    }
    targets.insert(f->targets.begin(), f->targets.end());
  }
}

/// Calls of these run whatever coroutine the handle is of.
bool resumes_coroutine(const std::string& name) {
  return name.starts_with("std::coroutine_handle") &&
         (name.ends_with("::resume") || name.ends_with(kCallOperator));
}

std::set<std::string> coroutines_of(const Program& program) {
  std::set<std::string> keys;
  for (const Function& f : program.functions) {
    if (f.coroutine && f.in_tree) {
      keys.insert(f.key);
    }
  }
  return keys;
}

bool is_defined(const Program& program, const std::string& key) {
  const Function* f = program.by_key(key);
  return f != nullptr && f->in_tree;
}

}  // namespace

bool may_point_to(const std::string& pointed_to, const std::string& type) {
  return pointed_to == type || ((has_any_parameters(pointed_to) || has_any_parameters(type)) &&
                                return_part(pointed_to) == return_part(type));
}

void compute_targets(Program& program) {
  const ByText addressed = addressed_functions(program);
  ByText overriders;
  std::map<std::string, std::set<std::string>> types;  // key of a `(*pointer)` → its types
  for (const Function& f : program.functions) {
    for (const std::string& usr : f.overrides) {
      overriders[usr].push_back(&f);
    }
    for (const Call& call : f.calls) {
      if (!call.type.empty()) {
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
  // What is passed on may itself be a pointer or a virtual method, so this comes last.
  const PassedOn passed = passed_on(program);
  std::vector<std::pair<Function*, std::set<std::string>>> found;
  for (Function& f : program.functions) {
    if (!f.file.empty()) {
      continue;
    }
    std::set<std::string> targets;
    if (const auto to_it = passed.to_library.find(f.key); to_it != passed.to_library.end()) {
      add_passed(program, to_it->second, targets);
    }
    if (const auto given = passed.to_template.find(f.key); given != passed.to_template.end()) {
      add_passed(program, given->second, targets);
    }
    if (resumes_coroutine(f.name)) {
      targets.merge(coroutines_of(program));
    } else if (f.name.ends_with(kCallOperator)) {
      const auto into_it = passed.into_class.find(class_of(f.name));
      const bool known = into_it != passed.into_class.end();
      add_passed(program, known ? into_it->second : passed.into_any_class, targets);
      add_passed(program, passed.kept, targets);
    }
    if (!targets.empty()) {
      found.emplace_back(&f, std::move(targets));
    }
  }
  for (auto& [f, targets] : found) {
    targets.insert(f->targets.begin(), f->targets.end());
    f->targets.assign(targets.begin(), targets.end());
  }
}

}  // namespace vprof::instrumenter
