// `vprof check`: says what would go wrong, before it does, and how to fix it.
#include "checks/checklist.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/text.h"

namespace vprof::driver {

void Checklist::ok(const std::string& what, const std::string& found) {
  say(fmt::format("OK       {}: {}", what, found));
}

void Checklist::note(const std::string& what, const std::string& problem, const std::string& fix) {
  say(fmt::format("note     {}: {}; {}", what, problem, fix));
}

void Checklist::problem(const std::string& what, const std::string& problem,
                        const std::string& fix) {
  say(fmt::format("PROBLEM  {}: {}; {}", what, problem, fix));
  ++problems_;
}

Result<int> verb_check(const Global& global) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  Checklist list;
  list.ok("configuration", shown(session.config.file));
  check_configuration(list, session);
  check_machine(list, session);
  if (list.problems() == 0) {
    return 0;
  }
  return fail("{} found; see the lines above", counted(list.problems(), "problem"));
}

}  // namespace vprof::driver
