#include "store/rocksdb_files.h"

#include <rocksdb/write_batch.h>

#include <array>
#include <cstring>
#include <stdexcept>

namespace smf {

namespace {

constexpr size_t kRowBytes = 100;

class PutReader : public rocksdb::WriteBatch::Handler {
 public:
  explicit PutReader(const std::function<void(std::string_view, std::string_view)>& put)
      : put_(put) {}

  rocksdb::Status PutCF(uint32_t, const rocksdb::Slice& key, const rocksdb::Slice& value) override {
    put_(key.ToStringView(), value.ToStringView());
    return rocksdb::Status::OK();
  }
  rocksdb::Status DeleteCF(uint32_t, const rocksdb::Slice&) override {
    return rocksdb::Status::OK();
  }
  void LogData(const rocksdb::Slice&) override {}
  rocksdb::Status MarkBeginPrepare(bool) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkEndPrepare(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkNoop(bool) override { return rocksdb::Status::OK(); }
  rocksdb::Status MarkCommit(const rocksdb::Slice&) override { return rocksdb::Status::OK(); }

 private:
  const std::function<void(std::string_view, std::string_view)>& put_;
};

}  // namespace

std::string encode(const Value& value) {
  std::string bytes(kRowBytes, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

Value decode(std::string_view bytes) {
  Value value;
  if (bytes.size() >= sizeof value) {
    std::memcpy(&value, bytes.data(), sizeof value);
  }
  return value;
}

rocksdb::Options database_options() {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.WAL_ttl_seconds = 24 * 60 * 60;                 // for for_each_logged_put
  options.max_write_buffer_size_to_maintain = 256 << 20;  // in which OCC looks for conflicts
  options.write_buffer_size = 256 << 20;
  return options;
}

void require(const rocksdb::Status& status, const char* what) {
  if (!status.ok()) {
    throw std::runtime_error(std::string("RocksDB cannot ") + what + ": " + status.ToString());
  }
}

void for_each_logged_put(rocksdb::DB& db,
                         const std::function<void(std::string_view, std::string_view)>& put) {
  if (db.GetLatestSequenceNumber() == 0) {
    return;
  }
  std::unique_ptr<rocksdb::TransactionLogIterator> log;
  require(db.GetUpdatesSince(0, &log), "read its log");
  PutReader reader(put);
  for (; log->Valid(); log->Next()) {
    require(log->GetBatch().writeBatchPtr->Iterate(&reader), "read a batch of its log");
  }
  require(log->status(), "read its log");
}

VersionOrder logged_version_order(rocksdb::DB& db) {
  VersionOrder order;
  for_each_logged_put(db, [&](std::string_view key, std::string_view value) {
    std::vector<uint64_t>& writers = order[std::string(key)];
    const uint64_t writer = decode(value).version.writer;
    if (writers.empty() || writers.back() != writer) {  // a batch keeps all writes of a row
      writers.push_back(writer);
    }
  });
  return order;
}

std::optional<Value> get_committed(rocksdb::DB& db, const std::string& key) {
  std::string bytes;
  const rocksdb::Status status = db.Get({}, key, &bytes);
  if (status.IsNotFound()) {
    return std::nullopt;
  }
  require(status, "read a row");
  return decode(bytes);
}

}  // namespace smf
