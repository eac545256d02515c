// Versions of rows in RocksDB. Only committed versions are ever written, and those of a transaction
// in one batch, so whatever a crash leaves is whole and is visible:
//
//   key    ┌─────────────┬─────┬───────────────────────┐
//          │ length of   │ row │ 2^64 - 1 - timestamp  │  big-endian: of one row, the newest
//          │ row, 2 bytes│     │ 8 bytes               │  version comes first
//          └─────────────┴─────┴───────────────────────┘
//   value  encode(Value)
#pragma once

#include <rocksdb/db.h>
#include <rocksdb/write_batch.h>

#include "store/rocksdb_files.h"

namespace smf {

using Timestamp = uint64_t;

// 0 is before all transactions.
struct StoredVersion {
  Timestamp timestamp = 0;
  std::optional<Value> value;
};

std::string version_key(std::string_view row, Timestamp timestamp);
// The row, and the timestamp.
std::pair<std::string, Timestamp> parse_version_key(std::string_view key);

class Versions {
 public:
  // Recovers: finds the newest timestamp, and removes versions that a newer one has replaced.
  explicit Versions(const StoreOptions& options);

  // The newest version, or one without a value.
  StoredVersion newest(const std::string& row);
  // Versions that no transaction can see any more are removed together with the commit.
  static void put(rocksdb::WriteBatch& batch, const std::string& row, Timestamp timestamp,
                  const Value& value);
  static void remove(rocksdb::WriteBatch& batch, const std::string& row, Timestamp timestamp);
  void write(rocksdb::WriteBatch& batch);

  Timestamp recovered_clock() const { return recovered_clock_; }
  VersionOrder version_order();
  size_t stored_versions();

 private:
  std::unique_ptr<rocksdb::DB> db_;
  rocksdb::WriteOptions write_;
  Timestamp recovered_clock_ = 0;
};

}  // namespace smf
