// What the exports of single intervals have in common.
#pragma once

#include <string>

#include "vprof/analyzer/interval_times.h"

namespace vprof::report {

/// All places and intervals of a trace to `writer`, which has begin(), add() and finish().
template <class Writer>
Result<analyzer::IntervalTimesSummary> export_rows(const std::string& trace_dir,
                                                   const std::string& sites_json,
                                                   const analyzer::Options& options,
                                                   Writer writer) {
  if (auto begun = writer.begin(); !begun) {
    return tl::make_unexpected(begun.error());
  }
  auto summary =
      analyzer::interval_times(trace_dir, sites_json, options,
                               {[&](const analyzer::PlaceRow& place) { return writer.add(place); },
                                [&](const analyzer::IntervalRow& row) { return writer.add(row); }});
  if (!summary) {
    return summary;
  }
  if (auto finished = writer.finish(); !finished) {
    return tl::make_unexpected(finished.error());
  }
  return summary;
}

/// `2000 intervals`, and how many are missing.
inline std::string written_intervals(const analyzer::IntervalTimesSummary& summary) {
  std::string written = fmt::format("{} intervals", summary.intervals);
  if (summary.left_out != 0) {
    written += fmt::format("; {} more were too long to follow", summary.left_out);
  }
  return written;
}

}  // namespace vprof::report
