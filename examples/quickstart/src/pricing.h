// What an order costs, and whether to trust who sent it.
#pragma once

#include <vector>

#include "order.h"

namespace orders {

class PriceList {
 public:
  PriceList();

  /// Applies every discount rule to the order; most of a usual order's time goes here.
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
