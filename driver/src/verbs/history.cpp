// `vprof history`: how the search went, iteration by iteration.
#include "pipeline/analysis.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"

namespace vprof::driver {

Result<int> verb_history(const Global& global, const HistoryOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  const State& state = session.state;
  if (state.iteration == 0) {
    return fail("nothing was measured yet; `vprof loop` does that");
  }
  if (options.json) {
    say(json_text(report::history_json(state.history)));
  } else {
    say(report::history_text(state.history, text_options()));
  }
  return 0;
}

}  // namespace vprof::driver
