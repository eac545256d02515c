// `vprof graph FUNCTION`: its neighbours in the call graph.
#include "commands.h"
#include "steps.h"
#include "verbs.h"

namespace vprof::driver {

namespace {

using instrumenter::Call;
using instrumenter::CallKind;
using instrumenter::Function;
using instrumenter::Program;

const char* kind_of(const Call& call) {
  switch (call.kind) {
    case CallKind::kVirtual:
      return "  virtual";
    case CallKind::kIndirect:
      return "  through a pointer";
    case CallKind::kSpawn:
      return "  starts a thread";
    case CallKind::kDirect:
      break;
  }
  return call.noreturn ? "  never returns" : "";
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
      if (call.callee_key != function.key) continue;
      say(fmt::format("  {}  {}:{}{}", caller->name, call.file, call.line, kind_of(call)));
    }
  }
}

void print_callees(const Program& program, const Function& function) {
  say(function.calls.empty() ? "callees: none" : "callees:");
  for (const Call& call : function.calls) {
    const std::string name = call.callee_name.empty() ? call.callee_key : call.callee_name;
    const std::string refused =
        call.reason.empty() ? "" : fmt::format("  not measured: {}", call.reason);
    say(fmt::format("  {}  {}:{}{}{}{}", name, call.file, call.line, height_of(program, call),
                    kind_of(call), refused));
  }
}

}  // namespace

Result<int> verb_graph(const Global& global, const std::string& name) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  auto program = load_index(*session);
  if (!program) return tl::unexpected(program.error());
  auto found = find_function(*program, name, "graph");
  if (!found) return tl::unexpected(found.error());
  const Function& function = **found;
  const std::string place = function.file.empty()
                                ? "no definition in the program"
                                : fmt::format("{}:{}", function.file, function.line);
  say(fmt::format("{}  {}  height {}  {}", function.name, place, function.height,
                  program->expandable(function) ? "can be broken down" : "cannot be broken down"));
  print_callers(*program, function);
  print_callees(*program, function);
  return 0;
}

}  // namespace vprof::driver
