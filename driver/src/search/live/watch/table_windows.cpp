#include "search/live/watch/table_windows.h"

#include <algorithm>

#include "process/commands.h"
#include "vprof/analyzer/recording_copy.h"

namespace vprof::driver {

void TableWindows::restart(int64_t on_since, int64_t from, const fs::path& sites_json,
                           const std::string& interval) {
  sites_json_ = sites_json;
  interval_ = interval;
  on_since_ = on_since;
  from_ = from;
}

Result<void> TableWindows::reach(int64_t to, bool is_last) {
  if (options_.out.empty() || to <= from_ || (!is_last && to - from_ < length_ns_)) {
    return {};
  }
  auto written = write(to);
  from_ = to;
  return written;
}

Result<void> TableWindows::write_slice(const analyzer::Epoch& epoch) {
  return options_.out.empty() ? Result<void>() : add(workspace_.window(), epoch);
}

Result<void> TableWindows::add(const fs::path& recording, const analyzer::Epoch& epoch) {
  TableSource source{.trace = recording, .sites_json = sites_json_, .analysis = {}};
  source.analysis.interval = interval_;
  source.analysis.epoch = epoch;
  auto written = write_tables(source, options_, false);
  if (!written && written.error().kind != ErrorKind::kNoInterval) {
    return tl::unexpected(written.error());
  }
  return {};
}

Result<void> TableWindows::write(int64_t to) {
  const fs::path window = workspace_.watch() / "tables";
  VPROF_TRY(remove_tree(window));
  VPROF_TRY(make_directories(window));
  // Twice as far back, to see whether the next window may be twice as long.
  const int64_t length = to - from_;
  const auto copy =
      VPROF_TRY(analyzer::copy_recording(trace_.string(), window.string(), from_ - length));
  if (copy.bytes == 0) {
    return {};
  }
  if (copy.complete_since > from_) {
    warn(
        fmt::format("--parquet: {:.1f} s of intervals are missing in the tables: the program "
                    "records more than its rings hold; a larger record.ring_mb helps",
                    static_cast<double>(copy.complete_since - from_) / 1e9));
    length_ns_ = std::max(length_ns_ / 2, kFirstNs / 2);
  } else if (copy.complete_since <= from_ - length || from_ - length < on_since_) {
    length_ns_ = std::min(length_ns_ * 2, kMostNs);
  }
  VPROF_TRY(add(window, {.from = from_,
                         .to = to,
                         .by_end = true,
                         .recorded_since = std::max(copy.complete_since, on_since_)}));
  return remove_tree(window);
}

}  // namespace vprof::driver
