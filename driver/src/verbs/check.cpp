// `vprof check`: says what would go wrong, before it does, and how to fix it.
#include "checks/checklist.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

nlohmann::json answer_of(const Checklist& list) {
  nlohmann::json items = nlohmann::json::array();
  for (const Checklist::Item& item : list.items()) {
    items.push_back(
        {{"state", item.state}, {"what", item.what}, {"found", item.found}, {"fix", item.fix}});
  }
  return {{"$schema", "check.schema.json"},
          {"schema", 1},
          {"items", std::move(items)},
          {"problems", list.problems()}};
}

}  // namespace

void Checklist::add(Item item) {
  if (prints_) {
    const std::string state = item.state == "ok"        ? "OK"
                              : item.state == "problem" ? "PROBLEM"
                                                        : item.state;
    const std::string fix = item.fix.empty() ? "" : "; " + item.fix;
    say(fmt::format("{:<8} {}: {}{}", state, item.what, item.found, fix));
  }
  items_.push_back(std::move(item));
}

void Checklist::ok(const std::string& what, const std::string& found) {
  add({"ok", what, found, ""});
}

void Checklist::note(const std::string& what, const std::string& problem, const std::string& fix) {
  add({"note", what, problem, fix});
}

void Checklist::problem(const std::string& what, const std::string& problem,
                        const std::string& fix) {
  add({"problem", what, problem, fix});
  ++problems_;
}

Result<int> verb_check(const Global& global, const CheckOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  Checklist list(!options.json);
  list.ok("configuration", shown(session.config.file));
  check_configuration(list, session);
  check_machine(list, session);
  if (options.json) {
    say_verbatim(json_text(answer_of(list)));
  }
  if (list.problems() == 0) {
    return 0;
  }
  return fail("{} found; see the lines above", counted(list.problems(), "problem"));
}

}  // namespace vprof::driver
