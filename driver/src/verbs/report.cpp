// `vprof report`: prints a report made earlier.
#include "pipeline/analysis.h"
#include "pipeline/html_report.h"
#include "process/commands.h"
#include "verbs/verbs.h"

namespace vprof::driver {

Result<int> verb_report(const Global& global, const ReportOptions& options) {
  auto session = VPROF_TRY(open_session(global.config, Access::kRead));
  if (!options.html.empty()) {
    auto text = VPROF_TRY(make_html(session, options.iteration));
    VPROF_TRY(write_file_atomic(options.html, text));
    say(fmt::format("{}: open it in a browser", shown(options.html)));
    return 0;
  }
  const Workspace& ws = session.workspace;
  const fs::path file =
      options.iteration > 0 ? ws.iteration(options.iteration) / "report.json" : ws.report();
  auto read = VPROF_TRY(read_report(file));
  if (options.json) {
    auto text = VPROF_TRY(read_file(file));
    say(text);
  } else if (options.tree) {
    say(report::tree_text(read.first, 0.01, text_options()));
  } else {
    say(report::text(read.first, read.second, text_options()));
  }
  return 0;
}

}  // namespace vprof::driver
