// Reads what a program has recorded into its rings: from a copy, since the program goes on.
#pragma once

#include <memory>
#include <optional>

#include "vprof/analyzer/epoch_sums.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// What has been read of a recording.
struct WatchWindow {
  analyzer::Slice slice;
  std::optional<analyzer::Profile> profile;  ///< nothing: no interval has ended there
  /// All that was recorded since then was read, ns of CLOCK_MONOTONIC.
  int64_t complete_since = INT64_MIN;
};

class WatchWindows {
 public:
  /// @param trace what the program records into
  WatchWindows(const Workspace& workspace, fs::path trace)
      : workspace_(workspace), trace_(std::move(trace)) {}

  /// What follows is read with these sites, and counts anew. Error: they cannot be read.
  Result<void> restart(const fs::path& sites_json);

  /// Reads the intervals of Options::epoch, from a copy of what was recorded since `since` and
  /// since Epoch::recorded_since. The copy stays until the next call. Error: it cannot be made.
  Result<WatchWindow> read(analyzer::Options options, int64_t since);
  /// What was read last counts, if anything was. Before, the next one would take its place.
  void count() {
    if (has_read_) {
      sums_->close();
    }
  }
  /// Of all that count. Errors as for analyze().
  Result<analyzer::Profile> so_far(const analyzer::Options& options) const {
    return sums_->profile(options);
  }

 private:
  const Workspace& workspace_;
  const fs::path trace_;
  std::unique_ptr<analyzer::EpochSums> sums_;  // since the first restart()
  bool has_read_ = false;                      // the last time
};

}  // namespace vprof::driver
