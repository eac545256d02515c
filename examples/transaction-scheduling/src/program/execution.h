// One attempt at a transaction, operation by operation, and the record of it.
#pragma once

#include <map>
#include <optional>

#include "store/concurrency_control.h"
#include "workloads/workload.h"

namespace smf {

class Execution {
 public:
  // `id` is unique, and `script` outlives the execution.
  Execution(const Script& script, uint64_t id);

  // The next operation, or, after the last, the first half of the commit. After kWait, the same
  // again.
  Outcome step(ConcurrencyControl& control);
  bool operations_left() const { return next_ < script_.operations.size(); }

  Attempt& attempt() { return attempt_; }
  const Script& script() const { return script_; }
  // What it has read of others and written, once it is committed.
  HistoryTransaction history() const;

 private:
  Outcome run(ConcurrencyControl& control, const ScriptOperation& operation);

  const Script& script_;
  Attempt attempt_;
  size_t next_ = 0;
  std::vector<HistoryRead> reads_;
  std::map<std::string, int64_t> amounts_;    // that it has read or written
  std::map<std::string, uint64_t> ordinals_;  // of its last write of each row
};

}  // namespace smf
