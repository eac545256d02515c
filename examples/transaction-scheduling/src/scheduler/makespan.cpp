#include "scheduler/makespan.h"

#include <algorithm>

namespace smf {

bool conflict(const Prediction& a, const Prediction& b) {
  return std::ranges::any_of(a.operations, [&](const Operation& left) {
    return std::ranges::any_of(b.operations, [&](const Operation& right) {
      return left.key == right.key &&
             (left.access == Access::kWrite || right.access == Access::kWrite);
    });
  });
}

uint64_t Makespan::free_from(const Operation& operation) const {
  const auto found = last_.find(operation.key);
  if (found == last_.end()) {
    return 0;
  }
  const Last& last = found->second;
  return operation.access == Access::kRead ? last.write : std::max(last.read, last.write);
}

uint64_t Makespan::start_of(const Prediction& transaction) const {
  uint64_t start = 0;
  for (const Operation& operation : transaction.operations) {
    start = std::max(start, free_from(operation));
  }
  return start;
}

Placement Makespan::place(const Prediction& transaction) const {
  if (span_ == Span::kTransaction) {
    const uint64_t start = start_of(transaction);
    return {start + transaction.length, start};
  }
  uint64_t delay = 0;
  for (const Operation& operation : transaction.operations) {
    delay = std::max(operation.position + delay, free_from(operation)) - operation.position;
  }
  return {transaction.length + delay, delay};
}

void Makespan::note(const Operation& operation, uint64_t end) {
  Last& last = last_[operation.key];
  uint64_t& of_its_kind = operation.access == Access::kRead ? last.read : last.write;
  of_its_kind = std::max(of_its_kind, end);
}

void Makespan::append(const Prediction& transaction) {
  const Placement placement = place(transaction);
  uint64_t delay = 0;
  for (const Operation& operation : transaction.operations) {
    if (span_ == Span::kTransaction) {
      note(operation, placement.end);
      continue;
    }
    delay = std::max(operation.position + delay, free_from(operation)) - operation.position;
    note(operation, operation.position + delay + 1);
  }
  units_ = std::max(units_, placement.end);
}

}  // namespace smf
