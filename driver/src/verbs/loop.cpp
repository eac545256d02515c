// `vprof loop`: iterative refinement, then the report.
#include <unistd.h>

#include <cstdio>

#include "pipeline/html_report.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/iterative_refinement.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

namespace {

Result<void> print_result(const Session& session, const LoopOptions& options) {
  if (options.json) {
    const auto text = VPROF_TRY(read_file(session.workspace.report()));
    std::fputs(text.c_str(), stdout);
    return {};
  }
  const auto [profile, context] = VPROF_TRY(read_report(session.workspace.report()));
  return say_with_links("\n" + report::text(profile, context, report::text_options()),
                        session.config.source);
}

}  // namespace

Result<int> verb_loop(const Global& global, const LoopOptions& options) {
  if (!options.decide_alone && ::isatty(STDIN_FILENO) == 0) {
    return fail("standard input is not a terminal, so vprof cannot ask; use `vprof loop --auto`");
  }
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  session.config.factors.interval = options.interval;
  if (options.overhead_budget >= 0) {
    session.config.overhead_budget = options.overhead_budget / 100;
  }
  if (options.json) {
    narrate_on_standard_error();
  }
  VPROF_TRY(refine(session, options));
  if (interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  VPROF_TRY(print_result(session, options));
  if (const auto html = write_html_report(session); !html) {
    warn("no HTML report: " + html.error().message);
  } else if (!options.json && !html->empty()) {
    say(fmt::format("\nreport for a browser: {}", shown(*html)));
  }
  return 0;
}

}  // namespace vprof::driver
