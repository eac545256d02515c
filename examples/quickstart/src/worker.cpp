#include "worker.h"

#include "profiling.h"

namespace orders {

namespace {

void handle_order(Service& service, Order& order) {
  if (!check_customer(order)) {
    ++service.rejected;
    return;
  }
  order.price_cents = service.prices.price_order(order);
  if (!service.stock.reserve_stock(order)) {
    ++service.rejected;
    return;
  }
  service.ledger.charge(order);
  service.journal.append(order);
  ++service.handled;
}

}  // namespace

void worker_loop(Service& service) {
  while (Order* order = dequeue_order(service.queue)) {
    vprof_switch(order->id);
    handle_order(service, *order);
    vprof_end(order->id);
    vprof_switch(0);
  }
}

}  // namespace orders
