#include "ledger.h"

namespace orders {

void Ledger::charge(const Order& order) {
  std::lock_guard<std::mutex> lock(mutex_);
  owed_cents_[order.customer] += order.price_cents;
}

uint64_t Ledger::total_cents() {
  std::lock_guard<std::mutex> lock(mutex_);
  uint64_t total = 0;
  for (const auto& [customer, cents] : owed_cents_) {
    total += cents;
  }
  return total;
}

}  // namespace orders
