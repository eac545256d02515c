// Takes orders from the queue and handles them one after the other.
#pragma once

#include <atomic>

#include "journal.h"
#include "ledger.h"
#include "order_queue.h"
#include "pricing.h"
#include "stock.h"

namespace orders {

/// What the threads of the service share.
struct Service {
  explicit Service(const std::string& journal_path) : journal(journal_path) {}

  OrderQueue queue;
  PriceList prices;
  Stock stock;
  Ledger ledger;
  Journal journal;
  std::atomic<uint32_t> handled{0};
  std::atomic<uint32_t> rejected{0};
};

/// The main function of a worker thread; returns when the queue is closed.
void worker_loop(Service& service);

}  // namespace orders
