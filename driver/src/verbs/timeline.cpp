// `vprof timeline`: one interval of a recording, piece by piece.
#include "vprof/report/timeline.h"
#include "vprof/report/terminal.h"

#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"

namespace vprof::driver {

Result<int> verb_timeline(const Global& global, const TimelineOptions& options) {
  fs::path trace = options.trace;
  if (trace.empty()) {
    auto session = VPROF_TRY(open_session(global.config, Access::kRead));
    trace = session.workspace.trace(session.state.iteration);
  }
  analyzer::Options wanted;
  wanted.interval = options.interval;
  const auto timeline = VPROF_TRY(
      analyzer::timeline_of(trace.string(), (trace / "sites.json").string(), options.id, wanted));
  say_verbatim(options.json ? json_text(report::json(timeline))
                            : report::text(timeline, report::text_options(), options.all));
  return 0;
}

}  // namespace vprof::driver
