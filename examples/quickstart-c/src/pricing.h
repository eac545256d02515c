/* What an order costs, and whether to trust who sent it. */
#ifndef PRICING_H
#define PRICING_H

#include <stdbool.h>

#include "order.h"

void pricing_init(void);

/* Applies every discount rule to the order; most of a usual order's time goes here. */
uint64_t price_order(const struct order* order);

/* True if the customer's history looks sound. */
bool check_customer(const struct order* order);

#endif
