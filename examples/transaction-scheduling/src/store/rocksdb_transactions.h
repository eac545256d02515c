// OCC and locks are RocksDB's own; what they share.
#pragma once

#include <rocksdb/utilities/transaction.h>

#include "store/rocksdb_files.h"

namespace smf {

// A transaction that only reads has a snapshot and none of RocksDB's transactions: it is serialized
// after the last commit in the snapshot. That is right as both controls commit in an order that
// agrees with all conflicts: a transaction holds the locks of all that it has read and written
// while RocksDB numbers its commit.
class RocksDbTransactions : public ConcurrencyControl {
 public:
  void begin(Attempt& attempt) override;
  Outcome read(Attempt& attempt, const std::string& key, bool for_update,
               std::optional<Value>& value) override;
  Outcome write(Attempt& attempt, const std::string& key, const Value& value) override;
  Outcome prepare(Attempt&) override { return Outcome::kDone; }
  Outcome persist(Attempt& attempt) override;
  void finish(Attempt& attempt) override { attempt.state.reset(); }
  void rollback(Attempt& attempt) override;
  bool has_own_locks() const override { return true; }
  VersionOrder version_order() override { return logged_version_order(db()); }
  std::optional<Value> committed(const std::string& key) override {
    return get_committed(db(), key);
  }

 protected:
  virtual rocksdb::DB& db() = 0;
  virtual std::unique_ptr<rocksdb::Transaction> begin_transaction() = 0;
  // Whether a read that no write follows takes the lock exclusively.
  virtual bool reads_exclusively() const = 0;
};

}  // namespace smf
