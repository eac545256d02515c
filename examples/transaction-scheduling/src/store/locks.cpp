// Strict two-phase locking: RocksDB's TransactionDB, with shared locks for reads, exclusive ones
// for writes and for reads that a write follows, and RocksDB's detection of deadlocks.
#include <rocksdb/utilities/transaction_db.h>

#include "store/rocksdb_transactions.h"

namespace smf {

namespace {

class Locks : public RocksDbTransactions {
 public:
  explicit Locks(const StoreOptions& options) {
    rocksdb::TransactionDB* opened = nullptr;
    require(rocksdb::TransactionDB::Open(database_options(), {}, options.directory, &opened),
            "open the database");
    db_.reset(opened);
    write_.sync = options.sync;
  }

 protected:
  rocksdb::DB& db() override { return *db_; }
  std::unique_ptr<rocksdb::Transaction> begin_transaction() override {
    rocksdb::TransactionOptions options;
    options.deadlock_detect = true;
    return std::unique_ptr<rocksdb::Transaction>(db_->BeginTransaction(write_, options));
  }
  bool reads_exclusively() const override { return false; }

 private:
  std::unique_ptr<rocksdb::TransactionDB> db_;
  rocksdb::WriteOptions write_;
};

}  // namespace

std::unique_ptr<ConcurrencyControl> make_locks(const StoreOptions& options) {
  return std::make_unique<Locks>(options);
}

}  // namespace smf
