// What every concurrency control offers. One call at a time for one attempt; a call that has to
// wait for another transaction says so, and is repeated once the attempt is among `woken`. So the
// same code runs under threads and on a simulated clock.
//
//   begin ──▶ read, write, ... ──▶ prepare ──▶ persist ──▶ finish
//                 └───────────────────┴───────────┴──────▶ rollback, if one says kAbort
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "history/history.h"
#include "scheduler/prediction.h"

namespace smf {

// A row's contents: who wrote it, for the checker, and a sum, for the workloads.
struct Value {
  VersionId version;
  int64_t amount = 0;
};

// As it is in RocksDB, followed by padding of a row's size.
std::string encode(const Value& value);
Value decode(std::string_view bytes);

enum class Outcome : uint8_t { kDone, kWait, kAbort };

// What a concurrency control keeps for an attempt.
struct AttemptState {
  virtual ~AttemptState() = default;
};

// One execution of a transaction, to its commit or rollback.
struct Attempt {
  uint64_t id = 0;  // unique, from 1
  bool read_only = false;
  Prediction expected;
  std::unique_ptr<AttemptState> state;
  // For threads: how its own thread learns that it is among the woken.
  bool woken = false;
  std::condition_variable changed;
};

class ConcurrencyControl {
 public:
  virtual ~ConcurrencyControl() = default;

  virtual void begin(Attempt& attempt) = 0;
  // No value: the row has never been written. `for_update`: a write of the same row will follow.
  virtual Outcome read(Attempt& attempt, const std::string& key, bool for_update,
                       std::optional<Value>& value) = 0;
  virtual Outcome write(Attempt& attempt, const std::string& key, const Value& value) = 0;
  // Whether the attempt may commit, as far as other transactions are concerned.
  virtual Outcome prepare(Attempt& attempt) = 0;
  // Makes the writes durable, all or none. Does not wait, and may be called by several threads at
  // the same time.
  virtual Outcome persist(Attempt& attempt) = 0;
  virtual void finish(Attempt& attempt) = 0;
  virtual void rollback(Attempt& attempt) = 0;

  // All functions may be called by several threads at the same time, and none returns kWait.
  virtual bool has_own_locks() const = 0;

  // The writers of each row, in the order of its versions, from RocksDB's log.
  virtual VersionOrder version_order() = 0;
  // The newest committed value. Only while no transaction runs.
  virtual std::optional<Value> committed(const std::string& key) = 0;

  std::vector<Attempt*> take_woken() { return std::move(woken_); }

 protected:
  void wake(Attempt* attempt) { woken_.push_back(attempt); }

 private:
  std::vector<Attempt*> woken_;
};

}  // namespace smf
