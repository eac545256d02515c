// `vprof export`: single intervals and shares of the variance, in the formats of other programs.
#include "vprof/report/exports.h"

#include <algorithm>

#include "pipeline/analysis.h"
#include "pipeline/exemplars.h"
#include "pipeline/profiles.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "verbs/verbs.h"
#include "vprof/support/json.h"

namespace vprof::driver {

namespace {

/// What is exported: a recording, and the profile of it.
struct Subject {
  fs::path trace;
  analyzer::Options options;

  std::string sites() const { return (trace / "sites.json").string(); }
};

Result<Subject> subject_of(const Global& global, const ExportOptions& options) {
  Subject subject;
  subject.options.interval = options.interval;
  subject.trace = options.trace;
  if (options.trace.empty()) {
    auto session = VPROF_TRY(open_session(global.config, Access::kRead));
    subject.trace = session.workspace.trace(session.state.iteration);
    if (subject.options.interval.empty()) {
      subject.options.interval = session.config.factors.interval;
    }
  }
  std::error_code error;
  if (!fs::is_directory(subject.trace, error)) {
    return fail("there is no recording {}; `vprof record` makes one", shown(subject.trace));
  }
  return subject;
}

Result<void> export_perfetto(const Subject& subject, const analyzer::Profile& profile,
                             const fs::path& file) {
  auto details = VPROF_TRY(analyzer::details_of(profile.sums));
  auto timelines = VPROF_TRY(exemplars(profile, details, subject.trace));
  const std::string text =
      report::perfetto(timelines).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  VPROF_TRY(write_file_atomic(file, text));
  say(fmt::format("{}: {} intervals as they went", shown(file), timelines.size()));
  return {};
}

Result<void> export_folded(const analyzer::Profile& profile, const fs::path& file) {
  double left_out = 0;
  const std::string text = report::folded(profile, left_out);
  VPROF_TRY(write_file_atomic(file, text));
  say(fmt::format(
      "{}: {} stacks, in millionths of the variance{}", shown(file),
      std::count(text.begin(), text.end(), '\n'),
      left_out < -0.0005
          ? fmt::format("; negative shares of together {:.1f} % are left out", 100 * left_out)
          : ""));
  return {};
}

/// What needs the analysis, which is made once for both.
Result<void> export_profile(const Subject& subject, const ExportOptions& options) {
  if (options.perfetto.empty() && options.folded.empty()) {
    return {};
  }
  auto profile =
      VPROF_TRY(analyzer::analyze(subject.trace.string(), subject.sites(), subject.options));
  if (!options.perfetto.empty()) {
    VPROF_TRY(export_perfetto(subject, profile, options.perfetto));
  }
  if (options.folded.empty()) {
    return {};
  }
  return export_folded(profile, options.folded);
}

Result<void> export_tables(const Subject& subject, const ExportOptions& options) {
  struct Format {
    const std::string& file;
    Result<analyzer::IntervalTimesSummary> (*write)(const std::string&, const std::string&,
                                                    const analyzer::Options&, const std::string&);
  };
  for (const Format& format :
       {Format{options.csv, report::export_csv}, Format{options.sqlite, report::export_sqlite}}) {
    if (format.file.empty()) {
      continue;
    }
    const auto written = VPROF_TRY(
        format.write(subject.trace.string(), subject.sites(), subject.options, format.file));
    say(fmt::format("{}: {} intervals{}", shown(format.file), written.intervals,
                    written.left_out == 0
                        ? ""
                        : fmt::format("; {} more were too long to be followed", written.left_out)));
  }
  return {};
}

}  // namespace

Result<int> verb_export(const Global& global, const ExportOptions& options) {
  if (options.perfetto.empty() && options.folded.empty() && options.csv.empty() &&
      options.sqlite.empty()) {
    return fail("nothing to export; say --perfetto, --csv, --sqlite or --folded with a file");
  }
  const auto subject = VPROF_TRY(subject_of(global, options));
  const Progress progress("export");
  const interrupt::DieAtOnce at_once;
  VPROF_TRY(export_profile(subject, options));
  VPROF_TRY(export_tables(subject, options));
  return 0;
}

}  // namespace vprof::driver
