// `vprof live`: one build, one run.
#include <cstdio>

#include "pipeline/html/html_report.h"
#include "pipeline/own_use/low_priority.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "search/live/live_search.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

Result<int> build_only(Session& session) {
  const fs::path trace = VPROF_TRY(prepare_live(session));
  say(
      fmt::format("\nThe program in {} is ready. Start it with\n\n    VPROF_TRACE_DIR={}\n\nin its "
                  "environment, and look at it with\n\n    vprof live --attach PID",
                  shown(session.workspace.mirror()), trace.string()));
  return 0;
}

}  // namespace

Result<int> verb_live(const Global& global, const LiveOptions& options) {
  VPROF_TRY(check_metrics(options.metrics));
  auto session = VPROF_TRY(open_search(global, options.interval, options.budget, options.json));
  if (options.build) {
    return build_only(session);
  }
  const Searched searched = VPROF_TRY(refine_live(session, options));
  auto printed = with_whole_budget(session.config.overhead_budget,
                                   [&] { return print_search_result(session, options.json); });
  say(fmt::format("searched for {:.0f} s; {}", searched.seconds, searched.own.text()));
  return printed;
}

}  // namespace vprof::driver
