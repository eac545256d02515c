// What an iteration leaves for later: its profile and its report.
//
//   iterations/N/profile.vprof   the sums; the loop resumes from it, `vprof merge` adds it up
//   iterations/N/report.json     the result for users and other programs
//   iterations/N/trace/provenance.json   where, when and how the recording was made
//   .vprof/profile.vprof, .vprof/report.json   copies of those of the current iteration
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "vprof/report/report.h"
#include "workspace/session.h"

namespace vprof::driver {

inline constexpr const char* kProvenanceFile = "provenance.json";

/// Writes the profile file of the current iteration and its copy.
Result<void> save_profile(const Session& session, const analyzer::Profile& profile);

/// Reads the profile of the current iteration back as it was analysed, compares it with the
/// baseline of the state, and makes it the profile of the workspace. Error: one line; says how to
/// measure again.
Result<analyzer::Profile> load_profile(const Session& session);

/// Reads profiles and adds them up. Each path is a file, or a directory with `profile.vprof` or
/// `.vprof/profile.vprof`. Error: one line that names the file.
Result<analyzer::Profile> read_profiles(const std::vector<std::string>& paths,
                                        const analyzer::Options& options);

/// Describes the machine, the program and the workload of a recording that is about to be made.
report::Provenance provenance_of(const Session& session, const std::vector<std::string>& argv);

/// Keeps the provenance in the recording.
Result<void> save_provenance(const fs::path& trace, const report::Provenance& provenance);
/// What save_provenance() has kept; empty if there is nothing.
report::Provenance provenance_in(const fs::path& trace);

/// The context that a report shows beside the profile: the iterations so far, the calls that could
/// not be measured, and where the recording in `trace` was made. Without a readable `sites_json`,
/// there are no such calls.
report::ReportContext context_of(const Session& session, const fs::path& sites_json,
                                 const fs::path& trace);

/// Marks the decisions of the state in `profile`; writes the report of the current iteration and
/// its copy.
Result<void> write_report(const Session& session, analyzer::Profile profile);

/// Makes `profile` that of the workspace, with the report, in place of the current iteration's.
Result<void> write_watched(const Session& session, analyzer::Profile profile);

/// Error: write_metrics() could not write there.
Result<void> check_metrics(const fs::path& file);

/// Replaces a file of metrics for Prometheus. Does nothing if `file` is empty.
/// @param start_s when the recording began, Unix time
/// @param counted_part of the time, of which the intervals are in the profile; nothing: as recorded
Result<void> write_metrics(const Session& session, const fs::path& file,
                           const analyzer::Profile& profile, double start_s,
                           std::optional<uint64_t> slow_intervals = {},
                           std::optional<double> counted_part = {});

/// Reads a report back. Error: there is none, with the verb that makes one.
Result<std::pair<analyzer::Profile, report::ReportContext>> read_report(const fs::path& file);

}  // namespace vprof::driver
