#include "worker.h"

#include "journal.h"
#include "ledger.h"
#include "pricing.h"
#include "profiling.h"
#include "stock.h"

static void handle_order(struct service* service, struct order* order) {
  if (!check_customer(order)) {
    atomic_fetch_add(&service->rejected, 1);
    return;
  }
  order->price_cents = price_order(order);
  if (!reserve_stock(order)) {
    atomic_fetch_add(&service->rejected, 1);
    return;
  }
  charge(order);
  journal_append(order);
  atomic_fetch_add(&service->handled, 1);
}

void* worker_loop(void* argument) {
  struct service* service = argument;
  struct order* order;
  while ((order = dequeue_order(&service->queue)) != NULL) {
    vprof_switch(order->id);
    handle_order(service, order);
    vprof_end(order->id);
    vprof_switch(0);
  }
  return NULL;
}
