#include "pricing.h"

#include <algorithm>

namespace orders {

namespace {
constexpr uint32_t kRules = 150000;
constexpr uint32_t kHistoryEntries = 30000;
}  // namespace

PriceList::PriceList() {
  rules_.reserve(kRules);
  for (uint32_t i = 0; i < kRules; ++i) {
    rules_.push_back({i % 700, i % 150});
  }
}

uint64_t PriceList::price_order(const Order& order) const {
  const uint64_t price = 1000ull * order.quantity;
  uint64_t discount = 0;
  for (const Rule& rule : rules_) {
    const bool applies = order.quantity + order.customer >= rule.least_quantity;
    discount = applies ? std::max(discount * 7 / 8, price * rule.per_mille / 1000) : discount;
  }
  return price - discount;
}

bool check_customer(const Order& order) {
  uint64_t digest = 0xcbf29ce484222325ull ^ order.customer;
  for (uint32_t entry = 0; entry < kHistoryEntries; ++entry) {
    digest = (digest ^ (entry & 0xff)) * 0x100000001b3ull;
  }
  return digest != 0;
}

}  // namespace orders
