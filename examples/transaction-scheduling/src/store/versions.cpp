#include "store/versions.h"

#include <algorithm>
#include <map>
#include <stdexcept>

namespace smf {

namespace {

constexpr size_t kLengthBytes = 2;
constexpr size_t kTimestampBytes = 8;

void append_big_endian(std::string& bytes, uint64_t number, size_t count) {
  for (size_t i = count; i-- > 0;) {
    bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  }
}

std::string row_prefix(std::string_view row) {
  if (row.size() > 0xffff) {
    throw std::runtime_error("the key of a row has at most 65535 bytes");
  }
  std::string bytes;
  bytes.reserve(kLengthBytes + row.size() + kTimestampBytes);
  append_big_endian(bytes, row.size(), kLengthBytes);
  bytes.append(row);
  return bytes;
}

}  // namespace

std::string version_key(std::string_view row, Timestamp timestamp) {
  std::string bytes = row_prefix(row);
  append_big_endian(bytes, ~timestamp, kTimestampBytes);
  return bytes;
}

std::pair<std::string, Timestamp> parse_version_key(std::string_view key) {
  if (key.size() < kLengthBytes + kTimestampBytes) {
    throw std::runtime_error("the database has a key that is no version of a row");
  }
  Timestamp inverted = 0;
  for (const char byte : key.substr(key.size() - kTimestampBytes)) {
    inverted = inverted << 8 | static_cast<unsigned char>(byte);
  }
  const auto row = key.substr(kLengthBytes, key.size() - kLengthBytes - kTimestampBytes);
  return {std::string(row), ~inverted};
}

Versions::Versions(const StoreOptions& options) {
  rocksdb::DB* opened = nullptr;
  require(rocksdb::DB::Open(database_options(), options.directory, &opened), "open the database");
  db_.reset(opened);
  write_.sync = options.sync;
  rocksdb::WriteBatch replaced;
  std::optional<std::string> last;
  const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next()) {
    auto [row, timestamp] = parse_version_key(all->key().ToStringView());
    recovered_clock_ = std::max(recovered_clock_, timestamp);
    if (last == row) {
      require(replaced.Delete(all->key()), "remove a version");
    }
    last = std::move(row);
  }
  require(all->status(), "recover");
  write(replaced);
}

StoredVersion Versions::newest(const std::string& row) {
  const std::string prefix = row_prefix(row);
  const std::unique_ptr<rocksdb::Iterator> found(db_->NewIterator({}));
  found->Seek(prefix);
  if (!found->Valid() || !found->key().starts_with(prefix) ||
      found->key().size() != prefix.size() + kTimestampBytes) {
    require(found->status(), "read a row");
    return {};
  }
  return {parse_version_key(found->key().ToStringView()).second,
          decode(found->value().ToStringView())};
}

void Versions::put(rocksdb::WriteBatch& batch, const std::string& row, Timestamp timestamp,
                   const Value& value) {
  require(batch.Put(version_key(row, timestamp), encode(value)), "write a version");
}

void Versions::remove(rocksdb::WriteBatch& batch, const std::string& row, Timestamp timestamp) {
  require(batch.Delete(version_key(row, timestamp)), "remove a version");
}

void Versions::write(rocksdb::WriteBatch& batch) {
  if (batch.Count() > 0) {
    require(db_->Write(write_, &batch), "commit");
  }
}

size_t Versions::stored_versions() {
  size_t count = 0;
  const std::unique_ptr<rocksdb::Iterator> all(db_->NewIterator({}));
  for (all->SeekToFirst(); all->Valid(); all->Next()) {
    ++count;
  }
  require(all->status(), "count its versions");
  return count;
}

VersionOrder Versions::version_order() {
  std::map<std::string, std::map<Timestamp, uint64_t>> writers;
  for_each_logged_put(*db_, [&](std::string_view key, std::string_view value) {
    const auto [row, timestamp] = parse_version_key(key);
    writers[row][timestamp] = decode(value).version.writer;
  });
  VersionOrder order;
  for (const auto& [row, by_timestamp] : writers) {
    for (const auto& [timestamp, writer] : by_timestamp) {
      order[row].push_back(writer);
    }
  }
  return order;
}

}  // namespace smf
