#include "pricing.h"

#define RULES 150000
#define HISTORY_ENTRIES 30000

static struct rule {
  uint32_t least_quantity;
  uint32_t per_mille;
} rules[RULES];

void pricing_init(void) {
  for (uint32_t i = 0; i < RULES; ++i) {
    rules[i].least_quantity = i % 700;
    rules[i].per_mille = i % 150;
  }
}

uint64_t price_order(const struct order* order) {
  const uint64_t price = 1000ull * order->quantity;
  uint64_t discount = 0;
  for (uint32_t i = 0; i < RULES; ++i) {
    const uint64_t offer = price * rules[i].per_mille / 1000;
    const uint64_t aged = discount * 7 / 8;
    if (order->quantity + order->customer >= rules[i].least_quantity) {
      discount = aged > offer ? aged : offer;
    }
  }
  return price - discount;
}

bool check_customer(const struct order* order) {
  uint64_t digest = 0xcbf29ce484222325ull ^ order->customer;
  for (uint32_t entry = 0; entry < HISTORY_ENTRIES; ++entry) {
    digest = (digest ^ (entry & 0xff)) * 0x100000001b3ull;
  }
  return digest != 0;
}
