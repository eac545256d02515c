// What the exports of single intervals share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vprof/analyzer/interval_times.h"
#include "vprof/report/exports.h"

namespace vprof::report {

/// Paths of places, `request > f > wait(x)`. Places come parents first, numbered from 0.
class PlacePaths {
 public:
  const std::string& add(const analyzer::PlaceRow& place);

 private:
  std::vector<std::string> paths_;
};

/// `2000 intervals`, and how many are missing.
std::string written_intervals(const analyzer::IntervalTimesSummary& summary);

/// Feeds all places and intervals of a recording to `writer`, which has begin(), add() and
/// finish(). Returns what was written, for the user.
template <class Writer>
Result<std::string> export_rows(const ExportSource& source, Writer writer) {
  VPROF_TRY(writer.begin());
  const auto summary = VPROF_TRY(analyzer::interval_times(
      source.trace_dir, source.sites_json, source.options,
      {[&](const analyzer::PlaceRow& place) { return writer.add(place); },
       [&](const analyzer::IntervalRow& row) { return writer.add(row); }}));
  VPROF_TRY(writer.finish());
  return written_intervals(summary);
}

}  // namespace vprof::report
