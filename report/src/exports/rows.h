// What the exports of single intervals share.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "vprof/analyzer/interval_times.h"

namespace vprof::report {

/// A file under construction, `FILE.part`. Deleted unless publish() gives it its name, so that the
/// export is complete or absent.
class DraftFile {
 public:
  explicit DraftFile(std::string file);
  ~DraftFile();
  DraftFile(const DraftFile&) = delete;
  DraftFile& operator=(const DraftFile&) = delete;

  const std::string& path() const { return draft_; }
  Result<void> publish();
  tl::unexpected<Error> failed(std::string_view reason) const;
  /// The reason is errno.
  tl::unexpected<Error> failed() const;

 private:
  const std::string file_, draft_;
};

/// Paths of places, `request > f > wait(x)`. Places come parents first, numbered from 0.
class PlacePaths {
 public:
  const std::string& add(const analyzer::PlaceRow& place);

 private:
  std::vector<std::string> paths_;
};

/// Feeds all places and intervals of a trace to `writer`, which has begin(), add() and finish().
template <class Writer>
Result<analyzer::IntervalTimesSummary> export_rows(const std::string& trace_dir,
                                                   const std::string& sites_json,
                                                   const analyzer::Options& options,
                                                   Writer writer) {
  VPROF_TRY(writer.begin());
  const auto summary = VPROF_TRY(analyzer::interval_times(
      trace_dir, sites_json, options,
      {[&](const analyzer::PlaceRow& place) { return writer.add(place); },
       [&](const analyzer::IntervalRow& row) { return writer.add(row); }}));
  VPROF_TRY(writer.finish());
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
