/* What travels through the service: main accepts it, the queue holds it, a worker handles it.
 */
#ifndef ORDER_H
#define ORDER_H

#include <stdint.h>

struct order {
  uint64_t id;      /* from 1; also the id of the semantic interval */
  const char* kind; /* "standard", "express" or "bulk" */
  uint32_t customer;
  uint32_t shelf;
  uint32_t quantity;
  uint64_t price_cents; /* filled by the worker */
};

#endif
