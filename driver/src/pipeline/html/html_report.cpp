#include "pipeline/html/html_report.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "pipeline/exemplars.h"
#include "pipeline/html/html_sources.h"
#include "pipeline/recordings/kept_recordings.h"
#include "pipeline/results.h"
#include "process/interrupt.h"
#include "process/progress.h"

namespace vprof::driver {

namespace {

struct Files {
  fs::path report, profile;
  std::vector<fs::path> recordings;
};

Files files_of(const Session& session, int iteration) {
  const Workspace& ws = session.workspace;
  if (iteration > 0) {
    const fs::path own = ws.iteration(iteration);
    return {own / "report.json", own / "profile.vprof", recordings_of(ws, iteration, false)};
  }
  return {ws.report(), ws.profile(), recordings_of(ws, session.state.iteration, true)};
}

std::optional<analyzer::Details> details_in(const fs::path& profile,
                                            std::vector<std::string>& notes) {
  const auto bytes = read_file(profile);
  if (!bytes) {
    notes.push_back(
        "The report has no profile file, so distributions and single intervals are not shown.");
    return {};
  }
  auto details = analyzer::details_of(*bytes);
  if (!details) {
    notes.push_back(
        fmt::format("The profile cannot be read ({}), so distributions and single "
                    "intervals are not shown.",
                    details.error().message));
    return {};
  }
  if (details->sampled.empty()) {
    notes.emplace_back("An earlier version of vprof wrote the profile, without single intervals.");
  }
  return *std::move(details);
}

/// When the first of the intervals began, ns of CLOCK_REALTIME.
int64_t first_begin(const analyzer::Details& details) {
  int64_t first = INT64_MAX;
  for (const auto* intervals : {&details.sampled, &details.worst}) {
    for (const analyzer::IntervalDetail& one : *intervals) {
      first = std::min(first, one.run + one.begin_ns);
    }
  }
  return first;
}

void add_timelines(const std::vector<fs::path>& recordings, report::HtmlReport& page) {
  if (!page.details) {
    return;
  }
  const interrupt::DieAtOnce at_once;
  auto shown = page_timelines(page.profile, *page.details, recordings);
  if (!shown) {
    page.notes.push_back(fmt::format("There are no timelines: {}", shown.error().message));
  } else if (shown->empty()) {
    page.notes.emplace_back(
        "The recording has been deleted, so no interval is shown piece by piece; `vprof loop "
        "--keep-traces` keeps the recordings of all iterations.");
  } else {
    page.timelines = std::move(*shown);
  }
}

}  // namespace

Result<std::string> make_html(const Session& session, int iteration) {
  Files files = files_of(session, iteration);
  auto read = VPROF_TRY(read_report(files.report));
  report::HtmlReport page;
  page.title = session.workspace.root.filename().string();
  page.profile = std::move(read.first);
  page.context = std::move(read.second);
  page.specificity = session.config.factors.specificity;
  page.details = details_in(files.profile, page.notes);
  if (page.details) {
    std::erase_if(files.recordings, [&, first = first_begin(*page.details)](const fs::path& one) {
      return is_kept_before(session.workspace, one, first);  // by an earlier watch, maybe hundreds
    });
  }
  add_timelines(files.recordings, page);
  add_sources(session, iteration > 0 ? iteration : session.state.iteration, page);
  auto text = VPROF_TRY(report::html(page));
  return text;
}

Result<fs::path> write_html_report(const Session& session) {
  if (!report::has_html_page()) {
    return fs::path();
  }
  const Progress progress("HTML report");
  auto text = VPROF_TRY(make_html(session, 0));
  fs::path file = session.workspace.html();
  VPROF_TRY(write_file_atomic(file, text));
  return file;
}

}  // namespace vprof::driver
