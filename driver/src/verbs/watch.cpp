// `vprof watch`: the flight recorder.
#include "process/commands.h"
#include "search/live/flight_recorder.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_watch(const Global& global, const WatchOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  session.config.factors.interval = options.interval;
  if (options.budget >= 0) {
    session.config.overhead_budget = options.budget / 100;
  }
  if (options.json) {
    narrate_on_standard_error();
  }
  VPROF_TRY(watch(session, options));
  return print_search_result(session, options.json);
}

}  // namespace vprof::driver
