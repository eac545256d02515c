// From a recording to report.json, and what the user decided on top of it.
#pragma once

#include "vprof/instrumenter/program.h"
#include "vprof/report/report.h"
#include "workspace/session.h"

namespace vprof::driver {

/// Columns and colours that fit where standard output goes (NO_COLOR is heeded).
report::TextOptions text_options();

/// What the loop has to tell beside the profile: its iterations, and what the instrumenter left
/// out.
report::Story story_of(const Session& session, const fs::path& sites_json);

/// Why a workload may have completed no interval: the functions that should have begun and ended
/// it, with their place in vprof.json.
std::string no_interval_message(const Config& config);

/// Analyses one recording. Error: one line; where no interval was completed it names the functions
/// that should have begun and ended it.
Result<analyzer::Profile> analyze_trace(const Session& session, const fs::path& trace);

/// Latencies of the baseline recording.
Result<analyzer::IntervalSummary> baseline_summary(const Session& session, const fs::path& trace);

/// How decisions refer to a factor: its key, or its names where it has none.
std::string factor_id(const analyzer::Factor& factor);
/// `f`, or `f and g`.
std::string factor_name(const analyzer::Factor& factor);

/// Marks factors that were accepted or set aside.
void overlay_decisions(analyzer::Profile& profile, const State& state);

/// Writes `iterations/N/report.json` of the current iteration and its copy `.vprof/report.json`.
Result<void> write_report(const Session& session, analyzer::Profile profile);

/// Reads a report back. Error: there is none, with the verb that makes one.
Result<std::pair<analyzer::Profile, report::Story>> read_report(const fs::path& file);

}  // namespace vprof::driver
