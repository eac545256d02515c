// Optimistic concurrency control: RocksDB's OptimisticTransactionDB. It validates at commit that no
// row has changed since the transaction read it (GetForUpdate) or wrote it (Put). No snapshot is
// set, so the time in which a change does harm begins with the access and not with the transaction.
#include <rocksdb/utilities/optimistic_transaction_db.h>

#include "store/rocksdb_transactions.h"

namespace smf {

namespace {

class Occ : public RocksDbTransactions {
 public:
  explicit Occ(const StoreOptions& options) {
    rocksdb::OptimisticTransactionDB* opened = nullptr;
    require(rocksdb::OptimisticTransactionDB::Open(database_options(), options.directory, &opened),
            "open the database");
    db_.reset(opened);
    write_.sync = options.sync;
  }

 protected:
  rocksdb::DB& db() override { return *db_; }
  std::unique_ptr<rocksdb::Transaction> begin_transaction() override {
    return std::unique_ptr<rocksdb::Transaction>(db_->BeginTransaction(write_));
  }
  bool reads_exclusively() const override { return true; }  // there are no locks to share

 private:
  std::unique_ptr<rocksdb::OptimisticTransactionDB> db_;
  rocksdb::WriteOptions write_;
};

}  // namespace

std::unique_ptr<ConcurrencyControl> make_occ(const StoreOptions& options) {
  return std::make_unique<Occ>(options);
}

}  // namespace smf
