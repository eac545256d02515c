// `vprof loop`: iterative refinement, then the report.
#include <unistd.h>

#include <algorithm>

#include "pipeline/html/html_report.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "search/iterative_refinement.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// Error: no interval can have this name. Those that the source marks itself are `interval`, if
/// vprof.json names none, and `interval#1` and so on.
Result<void> check_interval(const Config& config, const std::string& name) {
  std::vector<std::string> names;
  names.reserve(config.intervals.size() + 1);
  for (const Interval& interval : config.intervals) {
    names.push_back(interval.name);
  }
  if (names.empty()) {
    names.emplace_back("interval");
  }
  if (name.empty() || name.starts_with("interval#") ||
      std::ranges::find(names, name) != names.end()) {
    return {};
  }
  return fail("--interval {}: there is no such interval; there are: {}", name, listed(names));
}

}  // namespace

Result<Session> open_search(const Global& global, const std::string& interval, double budget,
                            bool json) {
  auto session = VPROF_TRY(open_session(global.config, Access::kWrite));
  VPROF_TRY(check_interval(session.config, interval));
  session.config.factors.interval = interval;
  if (budget >= 0) {
    session.config.overhead_budget = budget / 100;
  }
  if (json) {
    narrate_on_standard_error();
  }
  return session;
}

Result<int> print_search_result(const Session& session, bool json) {
  if (json) {
    const auto text = VPROF_TRY(read_file(session.workspace.report()));
    answer(text);
  } else {
    const auto [profile, context] = VPROF_TRY(read_report(session.workspace.report()));
    VPROF_TRY(say_with_links("\n" + report::text(profile, context, report::text_options()),
                             session.config.source));
  }
  if (const auto html = write_html_report(session); !html) {
    warn("no HTML report: " + html.error().message);
  } else if (!json && !html->empty()) {
    say(fmt::format("\nreport for a browser: {}", shown(*html)));
  }
  return 0;
}

Result<int> verb_loop(const Global& global, const LoopOptions& options) {
  if (!options.decide_alone && ::isatty(STDIN_FILENO) == 0) {
    return fail("standard input is not a terminal, so vprof cannot ask; use `vprof loop --auto`");
  }
  auto session =
      VPROF_TRY(open_search(global, options.interval, options.overhead_budget, options.json));
  VPROF_TRY(refine(session, options));
  if (interrupt::requested()) {
    return fail(ErrorKind::kInterrupted, "interrupted");
  }
  return print_search_result(session, options.json);
}

}  // namespace vprof::driver
