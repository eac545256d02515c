// `vprof export`: a recording in the formats of other programs.
#include "vprof/report/exports.h"

#include <algorithm>
#include <optional>

#include "pipeline/analysis.h"
#include "pipeline/exemplars.h"
#include "pipeline/recordings/tables.h"
#include "process/commands.h"
#include "process/interrupt.h"
#include "process/progress.h"
#include "verbs/verbs.h"
#include "vprof/support/output.h"
#include "vprof/support/text.h"

namespace vprof::driver {

namespace {

/// Analyses its recording when a format first asks for that.
class Recording : public report::ExportSource {
 public:
  using ExportSource::ExportSource;

  Result<const analyzer::Profile*> profile() override {
    if (!profile_) {
      profile_ = VPROF_TRY(analyzer::analyze(trace_dir, sites_json, options));
    }
    return &*profile_;
  }

  Result<std::vector<report::SelectedTimeline>> timelines() override {
    const analyzer::Profile* const analyzed = VPROF_TRY(profile());
    const auto details = VPROF_TRY(analyzer::details_of(analyzed->bytes));
    return exemplars(*analyzed, details, trace_dir);
  }

  Result<void> expect_bytes(const std::string& file, uint64_t bytes) override {
    if (!is_replaced(file)) {
      return {};
    }
    std::error_code error;
    const fs::path directory = fs::absolute(file, error).parent_path();
    const fs::space_info space = fs::space(directory, error);
    const std::string size = fmt::format("about {:.1f} GiB", static_cast<double>(bytes) / kGiB);
    if (!error && space.available < bytes) {
      return fail(
          "{}: would take {}, but {} has {:.1f} GiB free; `vprof export --folded` and "
          "`vprof timeline` need little room",
          shown(file), size, shown(directory), static_cast<double>(space.available) / kGiB);
    }
    if (bytes > kMuch) {
      say(fmt::format("{}: will take {}; Ctrl-C stops it", shown(file), size));
    }
    return {};
  }

 private:
  static constexpr double kGiB = 1024.0 * 1024 * 1024;
  static constexpr uint64_t kMuch = uint64_t{256} << 20;

  std::optional<analyzer::Profile> profile_;
};

Result<Recording> recording_of(const Global& global, const ExportOptions& options) {
  fs::path trace = options.trace;
  analyzer::Options analysis;
  analysis.interval = options.interval;
  if (trace.empty()) {
    const Session session = VPROF_TRY(open_session(global.config, Access::kRead));
    trace = session.workspace.trace(session.state.iteration);
  }
  VPROF_TRY(check_recording(trace));
  return Recording(trace.string(), (trace / "sites.json").string(), analysis);
}

/// `--perfetto, --csv or --folded`
std::string option_names() {
  std::vector<std::string> names;
  for (const report::ExportFormat& format : report::export_formats()) {
    names.push_back(fmt::format("--{}", format.name));
  }
  names.emplace_back("--parquet");
  return listed(names, "or");
}

}  // namespace

Result<int> verb_export(const Global& global, const ExportOptions& options) {
  VPROF_TRY(check_tables(options.tables));
  if (options.tables.out.empty() &&
      std::ranges::all_of(options.files, [](const auto& one) { return one.second.empty(); })) {
    return fail("nothing to export; name a file with {}", option_names());
  }
  const auto printed = std::ranges::count_if(
      options.files, [](const auto& one) { return is_standard_output(one.second); });
  if (printed > 1) {
    return fail("only one of {} can be standard output", option_names());
  }
  if (printed == 1) {
    narrate_on_standard_error();
  }
  Recording recording = VPROF_TRY(recording_of(global, options));
  const Progress progress("export");
  if (!options.tables.out.empty()) {
    const TableSource source{.trace = recording.trace_dir,
                             .sites_json = recording.sites_json,
                             .analysis = recording.options};
    const std::string written = VPROF_TRY(write_tables(source, options.tables, true));
    remember_outputs_of_verb(global.config, {options.tables.out});
    say(fmt::format("{}: {}", shown(options.tables.out), written));
  }
  const interrupt::DieAtOnce at_once;
  for (const report::ExportFormat& format : report::export_formats()) {
    const auto file = options.files.find(format.name);
    if (file != options.files.end() && !file->second.empty()) {
      const std::string written = VPROF_TRY(format.write(recording, file->second));
      remember_outputs_of_verb(global.config, {file->second});
      say(fmt::format("{}: {}", shown(file->second), written));
    }
  }
  return 0;
}

}  // namespace vprof::driver
