// What every customer owes: an in-memory table under one lock.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "order.h"

namespace orders {

class Ledger {
 public:
  void charge(const Order& order);
  uint64_t total_cents();

 private:
  std::mutex mutex_;
  std::map<uint32_t, uint64_t> owed_cents_;
};

}  // namespace orders
