#include "program/execution.h"

namespace smf {

Execution::Execution(const Script& script, uint64_t id) : script_(script) {
  attempt_.id = id;
  attempt_.read_only = script.read_only();
}

Outcome Execution::step(ConcurrencyControl& control) {
  if (!operations_left()) {
    return control.prepare(attempt_);
  }
  const Outcome outcome = run(control, script_.operations[next_]);
  next_ += outcome == Outcome::kDone ? 1 : 0;
  return outcome;
}

Outcome Execution::run(ConcurrencyControl& control, const ScriptOperation& operation) {
  if (operation.access == Access::kRead) {
    std::optional<Value> value;
    const Outcome outcome = control.read(attempt_, operation.key, operation.for_update, value);
    if (outcome == Outcome::kDone) {
      const Value found = value.value_or(Value{});
      amounts_[operation.key] = found.amount;
      if (found.version.writer != attempt_.id) {
        reads_.push_back({operation.key, found.version});
      }
    }
    return outcome;
  }
  const auto known = amounts_.find(operation.key);
  const int64_t before = known == amounts_.end() ? 0 : known->second;
  const Value value{{attempt_.id, ordinals_[operation.key] + 1}, before + operation.amount};
  const Outcome outcome = control.write(attempt_, operation.key, value);
  if (outcome == Outcome::kDone) {
    ++ordinals_[operation.key];
    amounts_[operation.key] = value.amount;
  }
  return outcome;
}

HistoryTransaction Execution::history() const {
  HistoryTransaction transaction{attempt_.id, reads_, {}};
  for (const auto& [key, ordinal] : ordinals_) {
    transaction.writes.push_back({key, ordinal});
  }
  return transaction;
}

}  // namespace smf
