// `vprof graph [FUNCTION]`: the neighbours of a function in the call graph, or the whole graph for
// other programs.
#include <algorithm>
#include <set>

#include "discovery/scan/source_scan.h"
#include "pipeline/call_graph.h"
#include "pipeline/steps.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

using instrumenter::Call;
using instrumenter::Function;
using instrumenter::Program;

/// What is special about a call, behind two spaces.
std::string remark_on(const Call& call) {
  std::string remark = text_of(call.kind).phrase;
  if (remark.empty() && call.noreturn) {
    remark = "never returns";
  }
  return remark.empty() ? "" : "  " + remark;
}

std::string height_of(const Program& program, const Call& call) {
  const Function* callee = program.by_key(call.callee_key);
  return callee == nullptr || callee->file.empty() ? ""
                                                   : fmt::format("  height {}", callee->height);
}

void print_callers(const Program& program, const Function& function) {
  const auto callers = program.callers(function);
  say(callers.empty() ? "callers: none that call it directly" : "callers:");
  for (const Function* caller : callers) {
    for (const Call& call : caller->calls) {
      if (call.callee_key != function.key) {
        continue;
      }
      say(fmt::format("  {}  {}:{}{}", caller->name, call.file, call.line, remark_on(call)));
    }
  }
  for (const Function* f : reached_through(program, function)) {
    say(fmt::format("  {}  may reach it", f->name));
  }
}

void print_callees(const Program& program, const Function& function) {
  if (!function.file.empty()) {
    say(function.calls.empty() ? "callees: none" : "callees:");
  }
  for (const Call& call : function.calls) {
    const std::string name = call.callee_name.empty() ? call.callee_key : call.callee_name;
    const std::string refused =
        call.reason == instrumenter::Reason::kNone
            ? ""
            : fmt::format("  not measured in place: {}", instrumenter::text_of(call.reason));
    say(fmt::format("  {}  {}:{}{}{}{}", name, call.file, call.line, height_of(program, call),
                    remark_on(call), refused));
  }
}

void print_targets(const Program& program, const Function& function) {
  if (function.targets.empty()) {
    return;
  }
  say("a call of it may reach:");
  for (const std::string& key : function.targets) {
    const Function* f = program.by_key(key);
    say(fmt::format("  {}  {}:{}  height {}", f->name, f->file, f->line, f->height));
  }
}

Result<const Function*> named(const Program& program, const GraphOptions& options) {
  if (!options.function.empty()) {
    return find_function(program, options.function, "graph");
  }
  if (options.dot || options.json) {
    return nullptr;
  }
  return fail("name a function, or write the whole graph with --dot or --json");
}

/// The names by which functions of the program can be called: from the index, or from the text of
/// the source where there is none. In the order of the alphabet.
std::set<std::string> names_of_functions(const Global& global) {
  std::set<std::string> names;
  const auto add = [&names](const std::string& name) {
    names.insert(name);
    names.emplace(last_part(name));
  };
  const auto session = open_session(global.config, Access::kRead);
  const auto kept = session ? read_file(session->workspace.names()) : fail("no configuration");
  if (kept) {
    std::ranges::for_each(lines_of(*kept), add);
    return names;
  }
  const fs::path here = fs::absolute(global.config).parent_path();
  for (const ScannedFunction& one : scan_tree(session ? session->config.source : here).functions) {
    add(one.name);
  }
  return names;
}

void print_names(const std::set<std::string>& names, const std::string& prefix) {
  std::string text;
  for (auto name = names.lower_bound(prefix); name != names.end() && name->starts_with(prefix);
       ++name) {
    text += *name + "\n";
  }
  answer(text);
}

}  // namespace

Result<int> verb_graph(const Global& global, const GraphOptions& options) {
  if (options.names) {
    print_names(names_of_functions(global), options.function);
    return 0;
  }
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  auto program = VPROF_TRY(load_index(session));
  auto found = VPROF_TRY(named(program, options));
  if (options.dot || options.json) {
    const CallGraph graph = call_graph(program, found);
    answer(options.dot ? to_dot(graph) : to_json(graph));
    return 0;
  }
  const Function& function = *found;
  const std::string place = function.file.empty()
                                ? "no definition in the program"
                                : fmt::format("{}:{}", function.file, function.line);
  say(fmt::format("{}  {}  height {}  {}", function.name, place, function.height,
                  program.expandable(function) ? "can be broken down" : "cannot be broken down"));
  print_callers(program, function);
  print_callees(program, function);
  print_targets(program, function);
  return 0;
}

}  // namespace vprof::driver
