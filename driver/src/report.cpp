// `vprof report`: prints a report made earlier.
#include "analysis.h"
#include "commands.h"
#include "html_report.h"
#include "verbs.h"

namespace vprof::driver {

Result<int> verb_report(const Global& global, const ReportOptions& options) {
  auto session = open_session(global.config, Access::kRead);
  if (!session) return tl::unexpected(session.error());
  if (!options.html.empty()) {
    auto text = make_html(*session, options.iteration);
    if (!text) return tl::unexpected(text.error());
    if (auto written = write_file_atomic(options.html, *text); !written) {
      return tl::unexpected(written.error());
    }
    say(fmt::format("{}: open it in a browser", shown(options.html)));
    return 0;
  }
  const Workspace& ws = session->workspace;
  const fs::path file =
      options.iteration > 0 ? ws.iteration(options.iteration) / "report.json" : ws.report();
  auto read = read_report(file);
  if (!read) return tl::unexpected(read.error());
  if (options.json) {
    auto text = read_file(file);
    if (!text) return tl::unexpected(text.error());
    say(*text);
  } else if (options.tree) {
    say(report::tree_text(read->first, 0.01, text_options()));
  } else {
    say(report::text(read->first, read->second, text_options()));
  }
  return 0;
}

}  // namespace vprof::driver
