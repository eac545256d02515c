// Multi-version timestamp ordering (MVTSO; P. Bernstein and N. Goodman, Multiversion Concurrency
// Control, TODS 8(4), 1983), with writes visible to others at once.
//
// A transaction's timestamp is its place in the serialization order. It reads the newest version
// that is not newer than itself. Its write comes too late, and it is aborted, if a newer
// transaction has read the version before. It commits after all whose uncommitted writes it has
// read, and is aborted if one of these is. All waiting is for older transactions, so there are no
// deadlocks.
//
// A transaction that only reads sees the state before the oldest one in flight that may write. All
// older ones have ended, so it neither waits nor makes anybody wait.
//
//   row ──▶ chain of versions, oldest first
//           ┌───────────────┬──────────────┬──────────────┐
//           │ 3, committed  │ 7, of T7     │ 9, of T9     │    each with the timestamp
//           │ read by 8     │ read by 9    │ not read     │    of its newest reader
//           └───────────────┴──────────────┴──────────────┘
#pragma once

#include <deque>
#include <set>
#include <unordered_map>

#include "store/concurrency_control.h"
#include "store/versions.h"

namespace smf {

class TimestampOrder : public ConcurrencyControl {
 public:
  explicit TimestampOrder(const StoreOptions& options);
  ~TimestampOrder() override;

  // The timestamp is that of the call: later calls get later ones. Of one that only reads, it is
  // older than that of all writers in flight.
  void begin(Attempt& attempt) override;
  Outcome read(Attempt& attempt, const std::string& key, bool for_update,
               std::optional<Value>& value) override;
  Outcome write(Attempt& attempt, const std::string& key, const Value& value) override;
  Outcome prepare(Attempt& attempt) override;
  Outcome persist(Attempt& attempt) override;
  void finish(Attempt& attempt) override;
  void rollback(Attempt& attempt) override;
  bool has_own_locks() const override { return false; }
  VersionOrder version_order() override { return versions_.version_order(); }
  std::optional<Value> committed(const std::string& key) override {
    return versions_.newest(key).value;
  }

  // How many rows are known in memory: those that a transaction in flight might still ask about.
  size_t rows_in_memory() const { return rows_.size(); }

 protected:
  static Timestamp timestamp_of(const Attempt& attempt);
  // Has to roll back, as a transaction did whose writes it has read.
  static bool is_doomed(const Attempt& attempt);

 private:
  struct State;
  struct Version;
  struct Row;

  static State& state_of(const Attempt& attempt);
  Row& row_of(State& state, const std::string& key);
  static size_t visible_to(const Row& row, Timestamp timestamp);
  void forget_rows();
  void leave(State& state);
  Timestamp horizon() const;

  Versions versions_;
  Timestamp clock_;
  std::set<Timestamp> writers_;       // in flight
  std::multiset<Timestamp> readers_;  // in flight: where they read
  std::unordered_map<std::string, Row> rows_;
  std::deque<std::string> to_forget_;  // rows, in the order in which their last user has left
};

}  // namespace smf
