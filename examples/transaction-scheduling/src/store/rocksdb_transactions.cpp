#include "store/rocksdb_transactions.h"

namespace smf {

namespace {

struct State : AttemptState {
  explicit State(rocksdb::DB& of) : db(of) {}
  ~State() override {
    if (snapshot != nullptr) {
      db.ReleaseSnapshot(snapshot);
    }
  }

  rocksdb::DB& db;
  const rocksdb::Snapshot* snapshot = nullptr;
  std::unique_ptr<rocksdb::Transaction> transaction;
};

State& state_of(Attempt& attempt) { return static_cast<State&>(*attempt.state); }

// Of a conflict with another transaction, the outcome; of anything else, an exception.
Outcome outcome_of(const rocksdb::Status& status, const char* what) {
  if (status.ok()) {
    return Outcome::kDone;
  }
  if (status.IsBusy() || status.IsTimedOut() || status.IsTryAgain()) {
    return Outcome::kAbort;
  }
  require(status, what);
  return Outcome::kAbort;
}

}  // namespace

void RocksDbTransactions::begin(Attempt& attempt) {
  auto state = std::make_unique<State>(db());
  if (attempt.read_only) {
    state->snapshot = db().GetSnapshot();
  } else {
    state->transaction = begin_transaction();
  }
  attempt.state = std::move(state);
}

Outcome RocksDbTransactions::read(Attempt& attempt, const std::string& key, bool for_update,
                                  std::optional<Value>& value) {
  State& state = state_of(attempt);
  std::string bytes;
  rocksdb::ReadOptions options;
  options.snapshot = state.snapshot;
  const rocksdb::Status status = state.snapshot != nullptr
                                     ? db().Get(options, key, &bytes)
                                     : state.transaction->GetForUpdate(
                                           options, key, &bytes, for_update || reads_exclusively());
  value.reset();
  if (status.IsNotFound()) {
    return Outcome::kDone;
  }
  const Outcome outcome = outcome_of(status, "read a row");
  if (outcome == Outcome::kDone) {
    value = decode(bytes);
  }
  return outcome;
}

Outcome RocksDbTransactions::write(Attempt& attempt, const std::string& key, const Value& value) {
  return outcome_of(state_of(attempt).transaction->Put(key, encode(value)), "write a row");
}

Outcome RocksDbTransactions::persist(Attempt& attempt) {
  State& state = state_of(attempt);
  return state.snapshot != nullptr ? Outcome::kDone
                                   : outcome_of(state.transaction->Commit(), "commit");
}

void RocksDbTransactions::rollback(Attempt& attempt) {
  State& state = state_of(attempt);
  if (state.transaction != nullptr) {
    require(state.transaction->Rollback(), "roll back");
  }
  attempt.state.reset();
}

}  // namespace smf
