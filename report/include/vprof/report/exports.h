// A profile or a recording in the formats of other programs (docs/formats.md).
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "vprof/analyzer/interval_times.h"
#include "vprof/report/html.h"

namespace vprof::report {

/// Trace Event Format, which Perfetto and Chrome open. Each interval is a process of its own, with
/// a row per thread on its path: pieces of the critical path, waits around them, and a flow from
/// each piece to one on another thread that follows it (a wake-up or hand-off).
nlohmann::json perfetto(const std::vector<ShownTimeline>& timelines);

/// Folded stacks, as flame-graph tools read them: `root;f;wait(x) 12345`, weighted by the leaf's
/// share of the variance in millionths. A share can be negative, which such tools cannot show:
/// those are left out, and `left_out` is their sum (a part of 1).
std::string folded(const analyzer::Profile& profile, double& left_out);

/// Every interval with the time of every place in it, a line for each. The file is there whole or
/// not at all. Error: one line.
Result<analyzer::IntervalTimesSummary> export_csv(const std::string& trace_dir,
                                                  const std::string& sites_json,
                                                  const analyzer::Options& options,
                                                  const std::string& file);

/// The same as a SQLite database: tables intervals, places, times. Replaces the file.
Result<analyzer::IntervalTimesSummary> export_sqlite(const std::string& trace_dir,
                                                     const std::string& sites_json,
                                                     const analyzer::Options& options,
                                                     const std::string& file);

}  // namespace vprof::report
