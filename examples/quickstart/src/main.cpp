// An order service in one process: this thread accepts orders at a steady pace, two workers handle
// them.
//
//   order_service [ORDERS] [JOURNAL]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>
#include <vector>

#include "maintenance.h"
#include "profiling.h"
#include "worker.h"

namespace orders {

namespace {

constexpr int kWorkers = 2;
constexpr auto kMeanGap = std::chrono::microseconds(1300);

Order next_order(uint64_t id, std::mt19937& random) {
  Order order;
  order.id = id;
  const uint32_t dice = random() % 10;
  order.kind = dice < 6 ? OrderKind::kStandard : dice < 9 ? OrderKind::kExpress : OrderKind::kBulk;
  order.customer = random() % 500;
  order.shelf = random() % kShelves;
  order.quantity = 100 + random() % 50;
  return order;
}

// Accepts orders on a schedule, whether or not a worker is free: customers come when they like. On
// a machine that cannot keep up, customers wait outside, and the queue stays short.
void accept_orders(Service& service, std::vector<Order>& accepted) {
  std::mt19937 random(42);
  std::uniform_real_distribution<double> jitter(0.5, 1.5);
  auto due = std::chrono::steady_clock::now();
  uint64_t id = 0;
  for (Order& order : accepted) {
    due += std::chrono::duration_cast<std::chrono::nanoseconds>(kMeanGap * jitter(random));
    std::this_thread::sleep_until(due);
    wait_for_room(service.queue);
    due = std::max(due, std::chrono::steady_clock::now() - kMeanGap);
    order = next_order(++id, random);
    vprof_begin(order.id);
    vprof_label(order.id, kind_name(order.kind));
    enqueue_order(service.queue, &order);
    vprof_switch(0);
  }
}

int run(size_t count, const char* journal_path) {
  Service service(journal_path);
  if (!service.journal.is_open()) {
    std::fprintf(stderr, "order_service: cannot write %s\n", journal_path);
    return 1;
  }
  std::atomic<bool> stop{false};
  std::thread maintenance([&stop] { maintenance_loop(stop); });
  std::vector<std::thread> workers;
  for (int i = 0; i < kWorkers; ++i) {
    workers.emplace_back([&service] { worker_loop(service); });
  }

  std::vector<Order> accepted(count);
  accept_orders(service, accepted);

  close_queue(service.queue);
  for (std::thread& worker : workers) {
    worker.join();
  }
  stop = true;
  maintenance.join();
  std::printf("%u orders handled, %u rejected, %.2f charged\n", service.handled.load(),
              service.rejected.load(), static_cast<double>(service.ledger.total_cents()) / 100.0);
  return service.handled == count ? 0 : 1;
}

}  // namespace

}  // namespace orders

int main(int argc, char** argv) {
  const long count = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 3000;
  if (count <= 0) {
    std::fprintf(stderr, "usage: order_service [ORDERS] [JOURNAL]\n");
    return 2;
  }
  return orders::run(static_cast<size_t>(count), argc > 2 ? argv[2] : "orders.journal");
}
