/* What an order costs, and whether its customer can be trusted. */
#ifndef PRICING_H
#define PRICING_H

#include <stdbool.h>

#include "order.h"

void pricing_init(void);

/* Applies every discount rule to the order; a usual order spends most of its time here. */
uint64_t price_order(const struct order* order);

/* True if the customer's history looks sound. */
bool check_customer(const struct order* order);

#endif
