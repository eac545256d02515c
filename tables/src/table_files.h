// The files of one export, by table and day: complete or absent.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "parquet_file.h"
#include "schema.h"

namespace vprof::tables {

/// Writes to `out/.vprof-RECORDING`, and moves the files to their places in the end.
class TableFiles {
 public:
  /// Removes what an earlier export of the recording has left there.
  static Result<std::unique_ptr<TableFiles>> create(const fs::path& out,
                                                    const std::string& recording,
                                                    const std::string& host);
  /// Removes what has not been published.
  ~TableFiles();
  TableFiles(const TableFiles&) = delete;
  TableFiles& operator=(const TableFiles&) = delete;

  /// The file of a table for the UTC day of an instant, ns of CLOCK_REALTIME.
  Result<ParquetFile*> file(const Table& table, int64_t realtime_ns);

  /// Puts all files in the place of those of an earlier export. `recordings` goes first and comes
  /// last: without its row there, a recording does not count.
  Result<void> publish();

 private:
  TableFiles(fs::path out, std::string recording, std::string host);

  struct Open {
    std::unique_ptr<ParquetFile> file;
    uint64_t used = 0;  ///< when it was asked for last
  };
  using Key = std::pair<const Table*, std::string>;  // and the day

  fs::path partition(const Key& key) const;
  Result<void> close_least_used(const Table& table);
  Result<void> remove_earlier() const;

  const fs::path out_, draft_;
  const std::string recording_, host_;
  const bool makes_out_;
  std::map<Key, Open> open_;
  std::map<Key, int> parts_;  // how many files there are
  uint64_t asked_ = 0;
};

/// A partition's value as Hive writes it: what a path may not have is `%2F`.
std::string partition_value(const std::string& text);

}  // namespace vprof::tables
