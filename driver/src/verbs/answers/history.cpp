// `vprof history`: what each iteration expanded, found and decided.
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/support/json.h"

namespace vprof::driver {

Result<int> verb_history(const Global& global, const HistoryOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  const State& state = session.state;
  if (state.iteration == 0) {
    return fail("nothing has been measured yet; run `vprof loop`");
  }
  if (options.json) {
    say_verbatim(json_text(report::history_answer(state.history)));
  } else {
    say_verbatim(report::history_text(state.history, report::text_options()));
  }
  return 0;
}

}  // namespace vprof::driver
