// `vprof check`: tells what would go wrong, before it does, and how to mend it.
#include "checklist.h"
#include "commands.h"
#include "near.h"
#include "verbs.h"

namespace vprof::driver {

void Checklist::ok(const std::string& what, const std::string& found) {
  say(fmt::format("OK       {}: {}", what, found));
}

void Checklist::note(const std::string& what, const std::string& problem, const std::string& mend) {
  say(fmt::format("note     {}: {}; {}", what, problem, mend));
}

void Checklist::problem(const std::string& what, const std::string& problem,
                        const std::string& mend) {
  say(fmt::format("PROBLEM  {}: {}; {}", what, problem, mend));
  ++problems_;
}

Result<int> verb_check(const Global& global) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  Checklist list;
  list.ok("configuration", shown(session->config.file));
  check_configuration(list, *session);
  check_machine(list, *session);
  if (list.problems() == 0) return 0;
  return fail("{} found; see the lines above", counted(list.problems(), "problem"));
}

}  // namespace vprof::driver
