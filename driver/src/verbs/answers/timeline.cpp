// `vprof timeline`: one interval of a recording, piece by piece.
#include "vprof/report/timeline.h"

#include <charconv>

#include "vprof/report/terminal.h"

#include "pipeline/analysis.h"
#include "pipeline/recordings/kept_recordings.h"
#include "pipeline/recordings/slices.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

/// The interval with an id or key, or the slowest one of a trace.
Result<analyzer::Timeline> find(const std::string& id, const fs::path& trace,
                                const analyzer::Options& wanted) {
  VPROF_TRY(check_recording(trace));
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
  return find_interval(trace, sites, number, wanted);
}

/// A key or a trace may have an interval in several recordings.
Result<analyzer::Timeline> find_slowest(const std::string& id,
                                        const std::vector<fs::path>& recordings,
                                        const analyzer::Options& wanted) {
  Result<analyzer::Timeline> slowest = fail("there is no recording");
  for (const fs::path& recording : recordings) {
    auto timeline = find(id, recording, wanted);
    const bool is_first = &recording == &recordings.front();
    if (is_first || (timeline && (!slowest || slowest->latency_ns < timeline->latency_ns))) {
      slowest = std::move(timeline);
    }
  }
  return slowest;
}

}  // namespace

Result<int> verb_timeline(const Global& global, const TimelineOptions& options) {
  std::vector<fs::path> recordings = {options.trace};
  if (options.trace.empty()) {
    auto session = VPROF_TRY(open_session(global.config, Access::kRead));
    recordings = recordings_of(session.workspace, session.state.iteration, true);
    if (recordings.empty()) {
      recordings = {session.workspace.trace(session.state.iteration)};  // whose error is clear
    }
  }
  analyzer::Options wanted;
  wanted.interval = options.interval;
  const analyzer::Timeline timeline = VPROF_TRY(find_slowest(options.id, recordings, wanted));
  if (options.json || options.trace_events) {
    say_verbatim(json_text(options.json ? report::json(timeline) : report::trace_events(timeline)));
  } else {
    say_verbatim(report::text(timeline, report::text_options(), options.all));
  }
  return 0;
}

}  // namespace vprof::driver
