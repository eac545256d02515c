/* The record of all sales: one line per order, flushed before the order is answered. */
#ifndef JOURNAL_H
#define JOURNAL_H

#include <stdbool.h>

#include "order.h"

bool journal_open(const char* path);
void journal_append(const struct order* order);
void journal_close(void);

#endif
