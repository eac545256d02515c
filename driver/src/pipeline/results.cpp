#include "pipeline/results.h"

#include <map>

#include "pipeline/own_use/own_processor_time.h"
#include "vprof/instrumenter/sites.h"
#include "vprof/report/exports.h"
#include "vprof/support/json.h"
#include "vprof/support/output.h"
#include "workspace/outputs.h"

namespace vprof::driver {

namespace {

fs::path profile_file(const Session& session) {
  return session.workspace.iteration(session.state.iteration) / "profile.vprof";
}

Result<fs::path> profile_at(const fs::path& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return path;
  }
  for (const char* name : {"profile.vprof", ".vprof/profile.vprof"}) {
    if (fs::exists(path / name, error)) {
      return path / name;
    }
  }
  return fail("{} has no profile.vprof; `vprof analyze` and `vprof loop` write one", shown(path));
}

}  // namespace

Result<void> save_profile(const Session& session, const analyzer::Profile& profile) {
  VPROF_TRY(write_file_atomic(profile_file(session), profile.bytes));
  return write_file_atomic(session.workspace.profile(), profile.bytes);
}

Result<analyzer::Profile> load_profile(const Session& session) {
  const fs::path file = profile_file(session);
  auto profile = read_profiles({file}, session.config.factors);
  if (!profile) {
    return fail("{}; `vprof loop --restart` measures again", profile.error().message);
  }
  compare_with(session.state.baseline, *profile);
  VPROF_TRY(write_file_atomic(session.workspace.profile(), profile->bytes));
  return profile;
}

Result<analyzer::Profile> read_profiles(const std::vector<std::string>& paths,
                                        const analyzer::Options& options) {
  std::vector<analyzer::ProfileBytes> profiles;
  for (const std::string& path : paths) {
    const fs::path file = VPROF_TRY(profile_at(path));
    profiles.push_back({shown(file), VPROF_TRY(read_file(file))});
  }
  return analyzer::merge(profiles, options);
}

report::ReportContext context_of(const Session& session, const fs::path& sites_json,
                                 const fs::path& trace) {
  const State& state = session.state;
  report::ReportContext context{.iterations = state.history,
                                .unwrapped = {},
                                .demoted = state.demoted,
                                .overhead_budget = session.config.overhead_budget,
                                .provenance = provenance_in(trace)};
  const auto sites = instrumenter::load_sites(sites_json.string());
  if (!sites) {
    return context;
  }
  std::map<std::string, uint64_t> counts;
  for (const auto& one : sites->unwrapped) {
    ++counts[one.by_rule ? "cheap, trivial or implicit (`vprof instrument --dry-run`)"
                         : one.reason];
  }
  for (const auto& [reason, count] : counts) {
    context.unwrapped.push_back({.reason = reason, .count = count});
  }
  return context;
}

namespace {

std::string report_of(const Session& session, analyzer::Profile profile) {
  mark_decisions(profile, session.state);
  const Workspace& ws = session.workspace;
  const report::ReportContext context =
      context_of(session, ws.sites(), ws.trace(session.state.iteration));
  return report::json_text(profile, context) + "\n";
}

}  // namespace

Result<void> write_watched(const Session& session, analyzer::Profile profile) {
  const Workspace& ws = session.workspace;
  VPROF_TRY(write_file_atomic(ws.profile(), profile.bytes));
  return write_file_atomic(ws.report(), report_of(session, std::move(profile)));
}

Result<void> write_report(const Session& session, analyzer::Profile profile) {
  const Workspace& ws = session.workspace;
  const std::string text = report_of(session, std::move(profile));
  const fs::path own = ws.iteration(session.state.iteration) / "report.json";
  VPROF_TRY(write_file_atomic(own, text));
  return write_file_atomic(ws.report(), text);
}

Result<void> check_metrics(const fs::path& file) {
  return file.empty() ? Result<void>() : check_output(file);
}

Result<void> write_metrics(const Session& session, const fs::path& file,
                           const analyzer::Profile& profile, double start_s,
                           std::optional<uint64_t> slow_intervals,
                           std::optional<double> counted_part) {
  if (file.empty()) {
    return {};
  }
  const fs::path source = fs::weakly_canonical(session.config.source);
  const report::Provenance made = provenance_in(session.workspace.trace(session.state.iteration));
  const report::MetricsContext context{.vprof = VPROF_VERSION,
                                       .program = source.filename().string(),
                                       .version = made.version,
                                       .start_s = start_s,
                                       .slow_intervals = slow_intervals,
                                       .counted_part = counted_part,
                                       .own_processor_s = own_processor_s()};
  VPROF_TRY(write_output(file, report::prometheus(profile, context)));
  remember_output(session.workspace, session.config.source, file);
  return {};
}

Result<std::pair<analyzer::Profile, report::ReportContext>> read_report(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    return fail("there is no report {}; `vprof loop` makes one", shown(file));
  }
  const auto document = VPROF_TRY(read_json(file));
  auto report = report::from_json(document);
  if (!report) {
    return fail("{}: {}", shown(file), report.error().message);
  }
  return *report;
}

}  // namespace vprof::driver
