// What an order costs, and whether its customer can be trusted.
#pragma once

#include <vector>

#include "order.h"

namespace orders {

class PriceList {
 public:
  PriceList();

  /// Applies every discount rule to the order; a usual order spends most of its time here.
  uint64_t price_order(const Order& order) const;

 private:
  struct Rule {
    uint32_t least_quantity;
    uint32_t per_mille;
  };
  std::vector<Rule> rules_;
};

/// True if the customer's history looks sound.
bool check_customer(const Order& order);

}  // namespace orders
