// `vprof watch`: the flight recorder.
#include "pipeline/own_use/low_priority.h"
#include "pipeline/results.h"
#include "search/live/watch/flight_recorder.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_watch(const Global& global, const WatchOptions& options) {
  VPROF_TRY(check_metrics(options.metrics));
  auto session = VPROF_TRY(open_search(global, options.interval, options.budget, options.json));
  VPROF_TRY(watch(session, options));
  return with_whole_budget(session.config.overhead_budget,
                           [&] { return print_search_result(session, options.json); });
}

}  // namespace vprof::driver
