#include "order_queue.h"

namespace orders {

namespace {
constexpr size_t kMaxWaiting = 3;
}

void wait_for_room(OrderQueue& queue) {
  std::unique_lock<std::mutex> lock(queue.mutex);
  while (queue.waiting.size() >= kMaxWaiting) {
    queue.not_full.wait(lock);
  }
}

void enqueue_order(OrderQueue& queue, Order* order) {
  {
    std::lock_guard<std::mutex> lock(queue.mutex);
    queue.waiting.push_back(order);
  }
  queue.not_empty.notify_one();
}

Order* dequeue_order(OrderQueue& queue) {
  std::unique_lock<std::mutex> lock(queue.mutex);
  while (queue.waiting.empty() && !queue.closed) {
    queue.not_empty.wait(lock);
  }
  if (queue.waiting.empty()) {
    return nullptr;
  }
  Order* order = queue.waiting.front();
  queue.waiting.pop_front();
  queue.not_full.notify_one();
  return order;
}

void close_queue(OrderQueue& queue) {
  {
    std::lock_guard<std::mutex> lock(queue.mutex);
    queue.closed = true;
  }
  queue.not_empty.notify_all();
}

}  // namespace orders
