// Tables of a program that runs: what it records is written as one recording after the other.
#pragma once

#include "pipeline/recordings/tables.h"
#include "workspace/workspace.h"

namespace vprof::driver {

/// Times are ns of CLOCK_MONOTONIC. A window is a minute long, or as long as the rings of the
/// program hold what it records, whichever is shorter: how long that is, each window shows.
class TableWindows {
 public:
  /// @param trace what the program records into
  TableWindows(const Workspace& workspace, fs::path trace, const TableOptions& options)
      : workspace_(workspace), trace_(std::move(trace)), options_(options) {}

  /// The sites have been switched, and what ends from an instant on is read with these.
  void restart(int64_t on_since, int64_t from, const fs::path& sites_json,
               const std::string& interval);
  /// Everything that ended before `to` can be written. Writes it if the window is long enough, or
  /// the last one. Error: the tables cannot be written.
  Result<void> reach(int64_t to, bool is_last);
  /// Writes the intervals of a slice, from the copy in the workspace. Error: as reach().
  Result<void> write_slice(const analyzer::Epoch& epoch);

 private:
  Result<void> write(int64_t to);
  /// Also if no interval is in it.
  Result<void> add(const fs::path& recording, const analyzer::Epoch& epoch);

  const Workspace& workspace_;
  const fs::path trace_;
  const TableOptions& options_;
  fs::path sites_json_;
  std::string interval_;
  int64_t on_since_ = 0, from_ = 0;
  int64_t length_ns_ = kFirstNs;

  static constexpr int64_t kFirstNs = 2'000'000'000;
  static constexpr int64_t kMostNs = 60'000'000'000;
};

}  // namespace vprof::driver
