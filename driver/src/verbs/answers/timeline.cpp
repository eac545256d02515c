// `vprof timeline`: one interval of a recording, piece by piece.
#include "vprof/report/timeline.h"

#include <charconv>

#include "vprof/report/terminal.h"

#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

/// The interval with an id or key, or the slowest one of a trace.
Result<analyzer::Timeline> find(const std::string& id, const fs::path& trace,
                                const analyzer::Options& wanted) {
  const std::string sites = (trace / "sites.json").string();
  if (const auto context = analyzer::parse_trace_context(id)) {
    return analyzer::timeline_of(trace.string(), sites, *context, wanted);
  }
  uint64_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) {
    return fail(
        "timeline: {} is no interval; give the number of an interval (see \"worst\" in the "
        "report), its key, or a trace id of 32 hexadecimal digits",
        id);
  }
  return analyzer::timeline_of(trace.string(), sites, number, wanted);
}

}  // namespace

Result<int> verb_timeline(const Global& global, const TimelineOptions& options) {
  fs::path trace = options.trace;
  if (trace.empty()) {
    auto session = VPROF_TRY(open_session(global.config, Access::kRead));
    trace = session.workspace.trace(session.state.iteration);
  }
  analyzer::Options wanted;
  wanted.interval = options.interval;
  const analyzer::Timeline timeline = VPROF_TRY(find(options.id, trace, wanted));
  if (options.json || options.trace_events) {
    say_verbatim(json_text(options.json ? report::json(timeline) : report::trace_events(timeline)));
  } else {
    say_verbatim(report::text(timeline, report::text_options(), options.all));
  }
  return 0;
}

}  // namespace vprof::driver
