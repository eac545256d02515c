// The hand-over from the acceptor to the workers.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>

#include "order.h"

namespace orders {

struct OrderQueue {
  std::mutex mutex;
  std::condition_variable not_empty, not_full;
  std::deque<Order*> waiting;
  bool closed = false;
};

/// Returns once few enough orders are waiting: no order is accepted before there is room for
/// it.
void wait_for_room(OrderQueue& queue);

void enqueue_order(OrderQueue& queue, Order* order);

/// The oldest order; waits for one. Null once the queue is closed and empty.
Order* dequeue_order(OrderQueue& queue);

/// Lets the workers finish.
void close_queue(OrderQueue& queue);

}  // namespace orders
