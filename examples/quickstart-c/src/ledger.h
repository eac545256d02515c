/* What every customer owes: an in-memory table under one lock. */
#ifndef LEDGER_H
#define LEDGER_H

#include "order.h"

#define CUSTOMERS 500

void charge(const struct order* order);
uint64_t ledger_total_cents(void);

#endif
