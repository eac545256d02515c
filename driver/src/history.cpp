// `vprof history`: how the search went, iteration by iteration.
#include "analysis.h"
#include "commands.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_history(const Global& global, const HistoryOptions& options) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  const State& state = session->state;
  if (state.iteration == 0) return fail("nothing was measured yet; `vprof loop` does that");
  if (options.json) {
    say(report::readable(report::history_json(state.history)));
  } else {
    say(report::history_text(state.history, text_options()));
  }
  return 0;
}

}  // namespace vprof::driver
