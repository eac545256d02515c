// `vprof timeline`: how one interval went, from a recording.
#include "vprof/report/timeline.h"

#include "analysis.h"
#include "commands.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_timeline(const Global& global, const TimelineOptions& options) {
  fs::path trace = options.trace;
  if (trace.empty()) {
    auto session = open_session(global.config, Access::kRead);
    if (!session) return tl::unexpected(session.error());
    trace = session->workspace.trace(session->state.iteration);
  }
  analyzer::Options wanted;
  wanted.interval = options.interval;
  const auto timeline =
      analyzer::timeline_of(trace.string(), (trace / "sites.json").string(), options.id, wanted);
  if (!timeline) return tl::unexpected(timeline.error());
  say(options.json ? report::readable(report::json(*timeline))
                   : report::text(*timeline, text_options()));
  return 0;
}

}  // namespace vprof::driver
