// What an iteration leaves for later: its profile and its report.
//
//   iterations/N/profile.vprof   the sums; the loop resumes from it, `vprof merge` adds it up
//   iterations/N/report.json     the result for users and other programs
//   .vprof/profile.vprof, .vprof/report.json   copies of those of the current iteration
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "vprof/report/report.h"
#include "workspace/session.h"

namespace vprof::driver {

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

/// The context that a report shows beside the profile: the iterations so far and the calls that
/// could not be measured. Without a readable `sites_json`, there are no such calls.
report::ReportContext context_of(const Session& session, const fs::path& sites_json);

/// Marks the decisions of the state in `profile`; writes the report of the current iteration and
/// its copy.
Result<void> write_report(const Session& session, analyzer::Profile profile);

/// Reads a report back. Error: there is none, with the verb that makes one.
Result<std::pair<analyzer::Profile, report::ReportContext>> read_report(const fs::path& file);

}  // namespace vprof::driver
