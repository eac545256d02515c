/* The warehouse: shelves of lots that goods are taken from. Each shelf has a lock of its own. */
#ifndef STOCK_H
#define STOCK_H

#include <stdbool.h>

#include "order.h"

#define SHELVES 256

bool stock_init(void);
void stock_destroy(void);

/* Takes the order's goods from its shelf. */
bool reserve_stock(const struct order* order);

#endif
