// `vprof report`: prints an earlier report.
#include "pipeline/html/html_report.h"
#include "pipeline/results.h"
#include "process/commands.h"
#include "verbs/verbs.h"
#include "vprof/report/terminal.h"

namespace vprof::driver {

Result<int> verb_report(const Global& global, const ReportOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  if (!options.html.empty()) {
    VPROF_TRY(write_result(options.html, VPROF_TRY(make_html(session, options.iteration))));
    remember_output(session.workspace, session.config.source, options.html);
    say(fmt::format("{}: open it in a browser", shown(options.html)));
    return 0;
  }
  const Workspace& ws = session.workspace;
  const fs::path file =
      options.iteration > 0 ? ws.iteration(options.iteration) / "report.json" : ws.report();
  const auto [profile, context] = VPROF_TRY(read_report(file));
  if (options.json) {
    say_verbatim(VPROF_TRY(read_file(file)));
  } else {
    const report::TextOptions layout = report::text_options();
    VPROF_TRY(say_with_links(
        options.tree ? report::tree_text(profile, layout) : report::text(profile, context, layout),
        session.config.source));
  }
  return 0;
}

}  // namespace vprof::driver
